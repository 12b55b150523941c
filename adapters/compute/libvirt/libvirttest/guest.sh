#!/bin/busybox sh
# The system of a test's machine. It sets the addresses that it was given, and reports what
# it is on the serial console. The sector at 40 MiB counts the starts of its disk.
/bin/busybox mkdir -p /proc /sys /dev /mnt
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in /lib/*.ko; do insmod $module; done
starts=$(dd if=/dev/vda bs=512 skip=81920 count=1 2>/dev/null | tr -d '\0')
starts=$((${starts:-0} + 1))
(echo $starts; cat /dev/zero) | dd of=/dev/vda bs=512 seek=81920 count=1 iflag=fullblock conv=notrunc,fsync 2>/dev/null
mount -t iso9660 -o ro /dev/vdb /mnt
host=$(sed -n 's/^ *"local-hostname": "\(.*\)",*$/\1/p' /mnt/meta-data)
ip link set eth0 up
for address in $(sed -n 's/^ *"\([0-9a-f.:]*\/[0-9]*\)",*$/\1/p' /mnt/network-config); do ip addr add $address dev eth0; done
has=$(ip -o addr show dev eth0 scope global | sed -n 's/.*inet6* \([^ ]*\).*/\1/p' | tr '\n' ',')
acpid -l /dev/null
system=$(sed -n 's/.*system=\([a-z]*\).*/\1/p' /proc/cmdline)
echo "GUEST $system uuid=$(cat /sys/class/dmi/id/product_uuid) mac=$(cat /sys/class/net/eth0/address) addresses=$has host=$host starts=$starts bytes=$(($(cat /sys/block/vda/size) * 512)) END"
exec sleep 100000
