package dev.podcache.object;

import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What a message gives of a text that is not ours: no more than fits, and on one line. A bad value may be anything, a
 * pasted file too, and whoever may write it must not write lines into our log. Never for payloads of Secrets.
 */
public final class Quoted {

    private static final int LONGEST_VALUE = 80;
    private static final int LONGEST_TEXT = 300;
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}]+");

    private Quoted() {}

    /** A value in quotation marks, cut after 80 characters; what cannot be printed is written as its code. */
    public static String value(String value) {
        return "\"" + UNPRINTABLE.matcher(cut(value, LONGEST_VALUE)).replaceAll(Quoted::escaped) + "\"";
    }

    /** Prose without quotation marks, cut after 300 characters; what cannot be printed is a blank. */
    public static String text(String text) {
        return UNPRINTABLE.matcher(cut(text, LONGEST_TEXT)).replaceAll(" ");
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
