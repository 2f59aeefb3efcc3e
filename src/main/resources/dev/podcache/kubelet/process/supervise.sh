# Runs the command of a container, keeps its output and records how it ended, whether or not the agent lives.
#
# sh supervise.sh DIRECTORY BOOT LIMIT PATH COMMAND [ARGUMENT...]
#   DIRECTORY  receives the files below
#   BOOT       the time of the boot of this machine, in hundredths of a second since 1970
#   LIMIT      the size of an output file in bytes; the newest two files are kept
#   PATH       the PATH of the command; otherwise the command gets the environment of this script
#
#   supervisor, command  the identity of this process and of the command: /proc/<pid>/stat and the ID of the boot
#   output.<n>           the output; each line begins with its time in hundredths of a second since 1970, and a space
#   exit                 the exit code and the time of the end
#
# Writes "started" to standard output before the command is executed. Sets no variable until then: that would change a
# variable of the same name in the environment of the command. Ends once all output is in the files.

# now BOOT: sets $now
now() {
    read -r uptime rest </proc/uptime
    now=$(($1 + ${uptime%.*}${uptime#*.}))
}

# writes the lines of standard input to the output files
keep() {
    LC_ALL=C
    number=0
    size=0
    exec >"$1/output.0"
    # true for a last line without line break, too
    while IFS= read -r line || [ -n "$line" ]; do
        if [ "$size" -ge "$3" ]; then
            number=$((number + 1))
            size=0
            exec >"$1/output.$number"
            rm -f "$1/output.$((number - 2))"
        fi
        now "$2"
        printf '%s %s\n' "$now" "$line"
        size=$((size + ${#now} + ${#line} + 2))
    done
}

cat /proc/$$/stat /proc/sys/kernel/random/boot_id >"$1/supervisor"
mkfifo "$1/pipe"
keep "$@" <"$1/pipe" &
exec 3>&1 >"$1/pipe"
rm "$1/pipe"

# a session of its own, because signals to the command's process group must not reach this script
setsid sh -c '
    cat /proc/$$/stat /proc/sys/kernel/random/boot_id >"$1/command"
    echo started >&3
    exec 2>&1 3>&-
    PATH=$4
    shift 4
    exec "$@"' sh "$@"
code=$?
# processes that the command leaves behind end with it, as in a container
read -r pid rest <"$1/command" && kill -s KILL -- "-$pid"
now "$2"
echo "$code $now" >"$1/exit.new"
ln "$1/exit.new" "$1/exit"

# the end of the output, unless a process that left the group holds it open
exec >&-
wait
