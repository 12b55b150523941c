#!/bin/sh
# Starts libvirtd in the foreground, in a mount namespace of its own, so that it does not meet
# the machine's libvirt. Arguments: the folder for all that it reads and writes, one for its
# cache, and "bridge", "tls:" with a port, or "none".
set -eu
folder=$1
mkdir -p "$folder/etc" "$folder/run" "$folder/var/lib" "$folder/var/log" "$folder/var/cache"
cat > "$folder/libvirtd.conf" <<END
unix_sock_dir = "$folder"
auth_unix_rw = "none"
auth_unix_ro = "none"
log_level = 3
log_outputs = "3:file:$folder/libvirtd.log"
END
screens=$((10000 + $$ % 400 * 100)) # ports of its own: each libvirt takes the first that is free
cat > "$folder/etc/qemu.conf" <<END
remote_display_port_min = $screens
remote_display_port_max = $((screens + 99))
user = "root"
group = "root"
security_driver = "none"
cgroup_controllers = []
namespaces = []
stdio_handler = "file"
dynamic_ownership = 0
remember_owner = 0
END
# libvirt asks for this user before it reads its configuration.
cp /etc/passwd /etc/group "$folder/"
grep -q '^libvirt-qemu:' "$folder/passwd" || echo 'libvirt-qemu:x:64055:64055::/:/usr/sbin/nologin' >> "$folder/passwd"
grep -q '^libvirt-qemu:' "$folder/group" || echo 'libvirt-qemu:x:64055:' >> "$folder/group"
grep -q '^kvm:' "$folder/group" || echo 'kvm:x:64056:' >> "$folder/group"
if [ "$3" = bridge ]; then # it is in a network of its own
	ip link set lo up
	ip link add br0 type bridge
	ip link set br0 up
fi
mkdir -p /etc/libvirt
mount --bind "$folder/etc" /etc/libvirt
mount --bind "$folder/passwd" /etc/passwd
mount --bind "$folder/group" /etc/group
mkdir -p "$2/libvirt"
mount --bind "$2" "$folder/var/cache" # what QEMU can do, which takes seconds to find out
for each in var/lib var/log var/cache run; do mount --rbind "$folder/$each" "/$each"; done
listen=
case $3 in
tls:*)
	listen=--listen
	cat >> "$folder/libvirtd.conf" <<END
listen_tls = 1
listen_addr = "127.0.0.1"
tls_port = "${3#tls:}"
key_file = "$folder/pki/serverkey.pem"
cert_file = "$folder/pki/servercert.pem"
ca_file = "$folder/pki/cacert.pem"
END
	;;
esac
exec libvirtd $listen -f "$folder/libvirtd.conf" -p "$folder/pid"
