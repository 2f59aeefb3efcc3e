package dev.podcache.object;

import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Quotes untrusted text for a log line or message: cut to a bounded length, on one line, so that its author can neither
 * forge log lines nor steer a terminal. Never for payloads of Secrets.
 *
 * @hidden
 */
@NotApi
public final class Quoted {

    private static final int LONGEST_VALUE = 80;
    private static final int LONGEST_TEXT = 300;

    /** Also what changes the direction of text, which shows it in another order. */
    private static final Pattern UNPRINTABLE =
            Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}\\u202a-\\u202e\\u2066-\\u2069]+");

    private Quoted() {}

    /** Returns a value in quotation marks, cut after 80 characters, with unprintable characters as Unicode escapes. */
    public static String value(String value) {
        return "\"" + UNPRINTABLE.matcher(cut(value, LONGEST_VALUE)).replaceAll(Quoted::escaped) + "\"";
    }

    /** Returns prose without quotation marks, cut after 300 characters, with unprintable characters as blanks. */
    public static String text(String text) {
        return line(cut(text, LONGEST_TEXT));
    }

    /** Returns prose of any length on one line, with unprintable characters as blanks. For text whose length has a bound. */
    public static String line(String text) {
        return UNPRINTABLE.matcher(text).replaceAll(" ");
    }

    private static String cut(String text, int longest) {
        return text.length() <= longest ? text : text.substring(0, longest) + "...";
    }

    private static String escaped(MatchResult unprintable) {
        return unprintable
                .group()
                .chars()
                .mapToObj(c -> String.format("\\\\u%04x", c))
                .collect(Collectors.joining());
    }
}
