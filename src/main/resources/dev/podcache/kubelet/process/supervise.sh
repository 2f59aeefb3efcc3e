# Runs the command of a container, keeps its output and records how it ended, whether or not the agent lives.
#
# sh supervise.sh DIRECTORY BOOT LIMIT OOM
#   DIRECTORY  receives the files below
#   BOOT       the time of the boot of this machine, in hundredths of a second since 1970
#   LIMIT      the size of an output file in bytes; the newest two files are kept
#   OOM        the oom_score_adj of the command; only a privileged process may set one below its own
#
#   supervisor, command  the identity of this process and of the command: /proc/<pid>/stat and the ID of the boot
#   output.<n>           the output; each line begins with its time in hundredths of a second since 1970, and a space
#   exit                 the exit code and the time of the end: a file, or on a full disk a link whose target is that text
#
# Standard input is a script that writes "started" to descriptor 3 and replaces the shell by the command. It is not in a file
# and not among the arguments, because the environment of the command has values of Secrets. Ends once all output is in the
# files.
#
# A line of more than LONGEST bytes is cut where stdbuf and fold are installed: a plus behind the time says that the next one
# continues the line. Without them, such a line is held in memory until its end.

# now BOOT: sets $now
now() {
    read -r uptime rest </proc/uptime
    now=$(($1 + ${uptime%.*}${uptime#*.}))
}

LONGEST=1048573

# cuts long lines
cut_lines() {
    if stdbuf -oL true 2>/dev/null && command -v fold >/dev/null; then
        exec stdbuf -oL fold -b -w "$LONGEST"
    fi
    exec cat
}

# writes the lines of standard input to the output files
keep() {
    LC_ALL=C
    number=-1
    size=$3
    exec >/dev/null
    # true for a last line without line break, too
    while IFS= read -r line || [ -n "$line" ]; do
        if [ "$size" -ge "$3" ]; then
            # on a full disk, "exec" alone would end this shell, and with it the container at its next output
            if { command exec >"$1/output.$((number + 1))"; } 2>/dev/null; then
                number=$((number + 1))
                size=0
                rm -f "$1/output.$((number - 2))"
            fi
        fi
        now "$2"
        if [ "${#line}" -eq "$LONGEST" ]; then
            now=$now+
        fi
        printf '%s %s\n' "$now" "$line"
        size=$((size + ${#now} + ${#line} + 2))
    done
}

cat /proc/$$/stat /proc/sys/kernel/random/boot_id >"$1/supervisor"
mkfifo "$1/pipe"
cut_lines <"$1/pipe" | keep "$@" &
exec 3>&1 >"$1/pipe"
rm "$1/pipe"

# a session of its own, because signals to the command's process group must not reach this script
setsid sh -c '
    { echo "$4" >/proc/$$/oom_score_adj; } 2>/dev/null
    cat /proc/$$/stat /proc/sys/kernel/random/boot_id >"$1/command"
    eval "$(cat)"' sh "$@"
code=$?
# processes that the command leaves behind end with it, as in a container
read -r pid rest <"$1/command" && kill -s KILL -- "-$pid"
now "$2"
# on a full disk, the target of a link still has a place
if { echo "$code $now" >"$1/exit.new"; } 2>/dev/null; then
    ln "$1/exit.new" "$1/exit"
else
    ln -s "$code $now" "$1/exit"
fi

# the end of the output, unless a process that left the group holds it open
exec >&-
wait
