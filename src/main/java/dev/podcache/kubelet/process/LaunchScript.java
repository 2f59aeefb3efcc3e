package dev.podcache.kubelet.process;

import com.google.common.collect.ImmutableSet;
import dev.podcache.kubelet.runtime.ByteText;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A script for {@code sh} that replaces the shell by a command with an environment. Carries any bytes but zero, whatever the
 * locale of this process and of the shell. Never to be logged or written to a file: it contains values of Secrets.
 */
final class LaunchScript {

    /*
     * A shell drops variables whose names it does not know, and gives a meaning to some that it knows. Those become
     * arguments of env. The others are exported, because all users of the machine can see arguments: those of env until it
     * executes the command.
     *
     * All is one compound command, so that of a part of it, nothing is executed.
     */

    /** Names that a shell passes on, but for those below. */
    private static final Pattern EXPORTED = Pattern.compile("(?!BASH|LC_|COMP_|EPOCH)[A-Za-z_][A-Za-z0-9_]*");

    private static final ImmutableSet<String> OF_SHELLS = ImmutableSet.of(
            "_",
            "DIRSTACK",
            "EUID",
            "FUNCNAME",
            "FUNCNEST",
            "GROUPS",
            "HISTCMD",
            "IFS",
            "LANG",
            "LINENO",
            "OLDPWD",
            "OPTARG",
            "OPTERR",
            "OPTIND",
            "PIPESTATUS",
            "POSIXLY_CORRECT",
            "PPID",
            "PS4",
            "PWD",
            "RANDOM",
            "SECONDS",
            "SHELLOPTS",
            "SHLVL",
            "SRANDOM",
            "UID");

    private static final String ENV = "/usr/bin/env --"; // a name may begin as an option does

    private LaunchScript() {}

    /** Returns whether a command with these variables needs {@code env}, for which its name must contain no {@code =}. */
    static boolean needsEnv(Map<String, String> environment) {
        return environment.keySet().stream().anyMatch(name -> !isExported(name));
    }

    private static boolean isExported(String name) {
        return EXPORTED.matcher(name).matches() && !OF_SHELLS.contains(name);
    }

    /**
     * Returns the script.
     *
     * @param before commands to execute first
     * @param environment without zero bytes, as the command
     */
    static byte[] of(String before, Map<String, String> environment, List<String> command) {
        ByteArrayOutputStream script = new ByteArrayOutputStream();
        add(script, "{ " + before + "\n");
        environment.forEach((name, value) -> {
            if (isExported(name)) {
                add(script, "export ");
                quote(script, name + "=" + value);
                add(script, "\n");
            }
        });
        add(script, "exec");
        if (needsEnv(environment)) {
            add(script, " " + ENV);
            environment.forEach((name, value) -> {
                if (!isExported(name)) {
                    add(script, " ");
                    quote(script, name + "=" + value);
                }
            });
        }
        for (String word : command) {
            add(script, " ");
            quote(script, word);
        }
        add(script, "\n}\n");
        return script.toByteArray();
    }

    private static void add(ByteArrayOutputStream script, String text) {
        script.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static void quote(ByteArrayOutputStream script, String text) {
        script.write('\'');
        script.writeBytes(ByteText.bytes(text.replace("'", "'\\''")));
        script.write('\'');
    }

    /** Returns a script as a line that {@code printf} makes the script of, in printable characters. */
    static byte[] line(byte[] script) {
        StringBuilder line = new StringBuilder(script.length * 2);
        for (byte each : script) {
            boolean plain =
                    (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9');
            if (plain) {
                line.append((char) each);
            } else {
                int value = each & 0xFF;
                line.append('\\')
                        .append((char) ('0' + (value >> 6)))
                        .append((char) ('0' + (value >> 3 & 7)))
                        .append((char) ('0' + (value & 7)));
            }
        }
        return line.append('\n').toString().getBytes(StandardCharsets.US_ASCII);
    }
}
