package dev.podcache.kubelet.podconfig;

/** Quotes text like Go's {@code %q}, as the kubelet does for labels and annotations in a file. */
final class GoQuoted {

    private static final String ESCAPED = "\u0007\b\f\n\r\t\u000b\"\\";
    private static final String ESCAPES = "abfnrtv\"\\";

    private GoQuoted() {}

    static String of(String text) {
        StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
        text.codePoints().forEach(point -> append(quoted, point));
        return quoted.append('"').toString();
    }

    private static void append(StringBuilder quoted, int point) {
        int escape = ESCAPED.indexOf(point);
        if (escape >= 0) {
            quoted.append('\\').append(ESCAPES.charAt(escape));
        } else if (isPrintable(point)) {
            quoted.appendCodePoint(point);
        } else if (point < ' ' || point == 0x7f) {
            quoted.append(String.format("\\x%02x", point));
        } else {
            quoted.append(String.format(point > Character.MAX_VALUE ? "\\U%08x" : "\\u%04x", point));
        }
    }

    private static boolean isPrintable(int point) {
        return switch (Character.getType(point)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            case Character.SPACE_SEPARATOR -> point == ' ';
            default -> true;
        };
    }
}
