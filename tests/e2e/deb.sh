#!/bin/sh
# The Debian packages: what is in them; with RD_DEB=full (root, debootstrap, the machine's package mirror) a clean
# chroot in which they are installed, work, and are purged.
. tests/e2e/lib.sh

for program in dpkg-deb dpkg-shlibdeps strip; do
	command -v $program >/dev/null || {
		skip "Debian packages" "no $program"
		plan
		exit 0
	}
done

# ---- made twice, they are the same bytes

make -s install DESTDIR="$scratch/stage" PREFIX=/usr >"$scratch/out" 2>&1
is "what is packed is what is installed: exit code" 0 $?
for n in 1 2; do
	SOURCE_DATE_EPOCH=1772323200 sh mk/deb.sh "$scratch/stage" "$scratch/$n" >"$scratch/packages" 2>"$scratch/err"
	is "packing: exit code" 0 $?
	check_empty "packing: says nothing else" "$scratch/err"
done
version=$("$bin/rundown" --version | sed -n 's/^rundown \([0-9.]*\).*/\1/p' | head -n 1)
arch=$(dpkg --print-architecture)
main=$scratch/1/rundown_${version}_$arch.deb
services=$scratch/1/rundown-services_${version}_$arch.deb
is "two packages" "$main $services" "$(sed 's|/2/|/1/|' "$scratch/packages" | tr '\n' ' ' | sed 's/ $//')"
for package in "$main" "$services"; do
	cmp -s "$package" "$scratch/2/${package##*/}" && ok "${package##*/}: equal bytes" || not_ok "${package##*/}: equal bytes"
	is "${package##*/}: all is root's" "root/root" "$(dpkg-deb -c "$package" | awk '{ print $2 }' | sort -u)"
	is "${package##*/}: nobody else writes" 0 "$(dpkg-deb -c "$package" | grep -c '^[^l]....w\|^[^l].......w')"
	dpkg-deb -e "$package" "$scratch/control"
	dpkg-deb -x "$package" "$scratch/tree"
	(cd "$scratch/tree" && md5sum --quiet -c "$scratch/control/md5sums") >"$scratch/out" 2>&1
	is "${package##*/}: sums" 0 $?
	for script in "$scratch/control/postinst" "$scratch/control/prerm" "$scratch/control/postrm"; do
		[ ! -e "$script" ] || sh -n "$script" || not_ok "${script##*/} is a script"
	done
	rm -rf "$scratch/control"
done
field()
{
	dpkg-deb -f "$1" "$2"
}
is "version" "$version $version" "$(field "$main" Version) $(field "$services" Version)"
for library in libzmq5 liblmdb0 libprotobuf-c1 libarchive13; do
	field "$main" Depends | grep -q "$library" && ok "depends on $library" || not_ok "depends on $library"
done
is "services go with their programs" 1 "$(field "$services" Depends | grep -c "rundown (= $version)")"
is "every program has its man page" "" "$(for program in "$scratch"/tree/usr/bin/*; do
	[ -e "$scratch/tree/usr/share/man/man1/${program##*/}.1.gz" ] || echo "${program##*/}"; done)"
"$scratch/tree/usr/bin/rundown" run tests/traces/shop-small.nettrace.zst -o "$scratch/r" -q >"$scratch/out" 2>&1
is "the packed programs work" 0 $?
"$bin/rundown" run tests/traces/shop-small.nettrace.zst -o "$scratch/own" -q >"$scratch/out" 2>&1
digest=$("$bin/rundown" report --digest "$scratch/own")
is "the packed programs: digest" "$digest" "$("$scratch/tree/usr/bin/rundown" report --digest "$scratch/r")"
is "units name programs that are there" "" "$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$scratch"/tree/usr/lib/systemd/system/*.service | sort -u |
	while read -r program; do [ -x "$scratch/tree$program" ] || echo "$program"; done)"
# ---- a clean chroot

if [ "${RD_DEB:-}" != full ]; then
	skip "installed in a clean chroot" "RD_DEB=full makes one from the machine's package mirror"
	plan
	exit 0
fi
if command -v lintian >/dev/null; then
	# It is no part of Debian: no bug is closed by it, and nobody answers below its name; no debhelper writes the scripts.
	lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs,no-changelog,mail-address-loops-or-bounces,hardening-no-bindnow,bogus-mail-host,bogus-mail-host-in-debian-changelog,maintainer-script-calls-systemctl \
		"$main" "$services" >"$scratch/lint" 2>&1
	is "lintian" 0 $?
	sed 's/^/# /' "$scratch/lint"
else
	skip "lintian" "there is none"
fi

root=$scratch/chroot
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
. /etc/os-release
debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" >"$scratch/out" 2>&1
is "a clean chroot" 0 $?
inside()
{
	chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
mount --bind /proc "$root/proc"
trap 'umount "$root/proc" 2>/dev/null; rm -rf "$scratch"' EXIT
files()
{
	(cd "$root" && find . -xdev -path ./proc -prune -o -path ./var/log -prune -o -path ./var/cache -prune -o \
		-path ./var/lib/dpkg -prune -o -path ./var/lib/apt -prune -o -path ./tmp -prune -o -print | sort)
}
# What they stand on stays: so it is there before.
inside apt-get update -qq >"$scratch/out" 2>&1
inside apt-get install -qq -y --no-install-recommends systemd zstd $(field "$main" Depends | tr ',' '\n' | sed 's/ *(.*//; s/^ *//') >"$scratch/out" 2>&1
is "what they stand on" 0 $?
files >"$scratch/before"
cp "$main" "$services" tests/traces/shop-small.nettrace.zst "$root/tmp"
inside apt-get install -qq -y --no-install-recommends "/tmp/${main##*/}" "/tmp/${services##*/}" >"$scratch/out" 2>&1
is "installed" 0 $?
is "its user is there" 1 "$(grep -c '^rundown:' "$root/etc/passwd")"
inside rundown run /tmp/shop-small.nettrace.zst -o /tmp/demo.rundown -q >"$scratch/out" 2>&1
is "the demo runs there" 0 $?
is "the demo: digest" "$digest" "$(inside rundown report --digest /tmp/demo.rundown)"
is "units are known" 5 "$(inside systemctl list-unit-files 'rundown*' --no-legend 2>/dev/null | wc -l | tr -d ' ')"
is "none is enabled" 0 "$(find "$root/etc/systemd" -name 'rundown*' | wc -l | tr -d ' ')"
inside apt-get purge -qq -y rundown rundown-services >"$scratch/out" 2>&1
is "purged" 0 $?
files >"$scratch/after"
diff "$scratch/before" "$scratch/after" >"$scratch/differ"
check_empty "nothing is left, nothing else is gone" "$scratch/differ"
plan
