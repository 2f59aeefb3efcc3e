package dev.podcache.kubelet.podconfig;

import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads a file of variables: {@code NAME='value'}, blank lines, and comments after {@code #}. A value may have several lines, and
 * nothing in it is expanded. A shell reads the same, but for a comment right after the closing quote: {@code A='v'#c} is {@code
 * v} here, and {@code v#c} there. Messages contain numbers of lines, but nothing of the file, whose values may be secret. Pure
 * functions.
 *
 * <p>Follows {@code ParseEnv} of the kubelet's {@code pkg/kubelet/util/env}.
 */
final class EnvFile {

    private static final Splitter LINES = Splitter.on('\n');
    private static final CharMatcher BLANK = CharMatcher.anyOf(" \t");

    private final List<String> lines;
    private int at; // the index of the current line

    private EnvFile(String text) {
        this.lines = LINES.splitToStream(text)
                .map(line -> line.endsWith("\r") ? line.substring(0, line.length() - 1) : line)
                .toList();
    }

    /**
     * Returns the value of the first variable with this name; null if there is none. What follows it is not looked at.
     *
     * @throws IOException if a line up to there is none of those above
     */
    static @Nullable String value(String text, String name) throws IOException {
        return new EnvFile(text).value(name);
    }

    private @Nullable String value(String wanted) throws IOException {
        for (; at < lines.size(); at++) {
            String line = BLANK.trimLeadingFrom(lines.get(at));
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            int equals = line.indexOf('=');
            if (equals <= 0) {
                throw invalid("expected NAME='value'");
            }
            String name = line.substring(0, equals);
            if (BLANK.matches(name.charAt(equals - 1))) {
                throw invalid("whitespace before '=' is not allowed");
            }
            String after = line.substring(equals + 1);
            // as in a shell, which takes what follows for a command
            String value = !after.isEmpty() && BLANK.matches(after.charAt(0)) ? "" : quoted(after);
            if (name.equals(wanted)) {
                return value;
            }
        }
        return null;
    }

    /** Reads a value, up to the line where it ends. */
    private String quoted(String afterEquals) throws IOException {
        if (!afterEquals.startsWith("'")) {
            throw invalid("value must be enclosed in single quotes");
        }
        StringBuilder value = new StringBuilder();
        int begin = at;
        String rest = afterEquals.substring(1);
        for (int quote = rest.indexOf('\''); quote < 0; quote = rest.indexOf('\'')) {
            if (at + 1 == lines.size()) {
                throw new IOException("invalid environment variable format starting at line " + (begin + 1)
                        + ": unclosed single quote");
            }
            value.append(rest).append('\n');
            at++;
            rest = lines.get(at);
        }
        int quote = rest.indexOf('\'');
        String more = BLANK.trimLeadingFrom(rest.substring(quote + 1));
        if (!more.isEmpty() && !more.startsWith("#")) {
            throw invalid("unexpected content after closing quote");
        }
        return value.append(rest, 0, quote).toString();
    }

    private IOException invalid(String why) {
        return new IOException("invalid environment variable format at line " + (at + 1) + ": " + why);
    }
}
