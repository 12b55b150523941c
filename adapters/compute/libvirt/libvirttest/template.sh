#!/bin/sh
# Makes two images that boot from their own disk, as those of a hoster do: Debian's cloud
# kernel and a small system of busybox, started by syslinux. It needs no mounts. Arguments:
# the folder for the images, the script of the system.
set -eu
target=$1 guest=$2
work=$(mktemp -d "$target/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
kernel=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[^ ]*\)$/\1/p' | head -n 1)
[ -n "$kernel" ] || { echo "apt knows no linux-image-cloud-amd64" >&2; exit 1; }
apt-get download -qq "$kernel" 2>apt.log || { cat apt.log >&2; exit 1; }
dpkg -x "$kernel"*.deb kernel
mkdir -p root/bin root/lib root/etc/acpi/PWRF
cp "$(command -v busybox)" root/bin/busybox
printf '%s\n' "$guest" > root/init
printf '#!/bin/busybox sh\n/bin/busybox poweroff -f\n' > root/etc/acpi/PWRF/00000080
chmod +x root/init root/etc/acpi/PWRF/00000080
order=10
for module in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk failover net_failover virtio_net \
	cdrom isofs evdev button; do
	cp "$(find kernel/lib/modules -name $module.ko)" root/lib/$order-$module.ko
	order=$((order + 1))
done
(cd root && find . | busybox cpio -o -H newc 2>/dev/null | gzip) > initrd.gz
cp kernel/boot/vmlinuz-* vmlinuz
for system in own rescue; do
	printf 'DEFAULT guest\nLABEL guest\nKERNEL vmlinuz\nINITRD initrd.gz\nAPPEND console=ttyS0 no_timer_check quiet system=%s\n' $system > syslinux.cfg
	mkfs.vfat -C disk.raw 24576 >/dev/null
	syslinux --install disk.raw
	mcopy -i disk.raw vmlinuz initrd.gz syslinux.cfg ::
	qemu-img convert -f raw -O qcow2 disk.raw $system.qcow2
	rm disk.raw
done
mv own.qcow2 rescue.qcow2 "$target/"
