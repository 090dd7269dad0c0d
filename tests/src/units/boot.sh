# The first process of new namespaces. It creates a root file system, and then runs systemd in it. systemd cannot write to files of the
# machine: /usr is an overlay, and /tmp, /run, /var and /etc are new. It only has the cgroups below the namespace.
# $1: an empty folder for the root. $2: the files to put into it.
set -eu
root=$1 files=$2
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$root"
cd "$root"
mkdir -p usr proc sys dev run tmp var/tmp var/log var/lib etc root old .usr/upper .usr/work
chmod 1777 tmp var/tmp
for name in bin sbin lib lib32 lib64; do
    if [ -h "/$name" ]; then cp -P "/$name" "$name"; fi
done
mount -t overlay -o lowerdir=/usr,upperdir=.usr/upper,workdir=.usr/work overlay usr
# Hide the machine's units and generators.
for name in system system-generators system-environment-generators; do
    if [ -d "usr/lib/systemd/$name" ]; then mount -t tmpfs -o mode=755 tmpfs "usr/lib/systemd/$name"; fi
done
mount -t proc -o nosuid,nodev,noexec proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs sys
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    mount -t cgroup2 cgroup2 sys/fs/cgroup
else
    mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
    mkdir sys/fs/cgroup/memory sys/fs/cgroup/pids sys/fs/cgroup/devices sys/fs/cgroup/systemd
    for name in memory pids devices; do mount -t cgroup -o "$name" cgroup "sys/fs/cgroup/$name"; done
    mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
fi
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/net dev/shm dev/pts
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for name in null zero full random urandom tty net/tun; do
    if [ -e "/dev/$name" ]; then
        : >"dev/$name"
        mount --bind "/dev/$name" "dev/$name"
    fi
done
mount -t tmpfs -o mode=755 tmpfs run
cp -a "$files/." .
pivot_root . old
# systemd mounts the credentials of services, and these mounts must be propagated to them. So mounts are shared.
exec chroot . /bin/sh -c 'umount -l /old && mount --make-rshared / &&
    exec env -i container=closc PATH=/usr/bin:/usr/sbin \
        setpriv --bounding-set=-sys_module,-sys_time,-sys_rawio,-sys_boot,-syslog \
        /usr/lib/systemd/systemd --system --unit=tests.target --show-status=no' </dev/null
