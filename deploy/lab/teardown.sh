# shellcheck shell=sh disable=SC2010 # the names in /run/netns are plain
# Takes a lab away: its processes, its namespaces (with every device, route and rule in them), its files.
# $1 is the lab's id, $2 the process that is spared (the lab's own, which enters its namespaces for moments).
# Until two rounds in a row find nothing: a command of a lab that was killed midway may still be making something.
id=$1
owner=$2
quiet=0
while [ "$quiet" -lt 2 ]; do
	quiet=$((quiet + 1))
	for name in $(ls /run/netns 2>/dev/null | grep "^lab-$id-"); do
		quiet=0
		for pid in $(ip netns pids "$name" 2>/dev/null); do
			[ "$pid" = "$owner" ] || kill -KILL "$pid" 2>/dev/null
		done
		ip netns delete "$name" 2>/dev/null
		rm -rf "/etc/netns/$name"
	done
	for dir in /etc/netns/lab-"$id"-*; do
		[ -e "$dir" ] && rm -rf "$dir"
	done
	[ "$quiet" -lt 2 ] && sleep 0.05
done
rmdir /etc/netns 2>/dev/null
rm -rf "/run/diagnostics-lab/$id"
rmdir /run/diagnostics-lab 2>/dev/null
exit 0
