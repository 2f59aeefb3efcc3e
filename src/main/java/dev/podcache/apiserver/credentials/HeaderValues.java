package dev.podcache.apiserver.credentials;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;

/**
 * Checks what is sent in headers before a library sees it, which may quote it in an exception. Pure.
 */
final class HeaderValues {

    private static final String TOKEN_MARKS = "!#$&'*+-.^_`|~";

    private HeaderValues() {}

    /**
     * Returns a value as it goes over the wire: its bytes in UTF-8, one in each character, without blanks around them.
     *
     * @return empty if it has a line break or another control character, which no header may have
     */
    static Optional<String> wire(String value) {
        boolean legal = value.chars().allMatch(each -> each == '\t' || (each >= 0x20 && each != 0x7f));
        if (!legal) {
            return Optional.empty();
        }
        String bytes = new String(value.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        int start = 0;
        int end = bytes.length();
        while (start < end && isBlank(bytes.charAt(start))) {
            start++;
        }
        while (end > start && isBlank(bytes.charAt(end - 1))) {
            end--;
        }
        return Optional.of(bytes.substring(start, end));
    }

    private static boolean isBlank(char each) {
        return each == ' ' || each == '\t';
    }

    /** Returns whether a text can be the name of a header. */
    static boolean isName(String name) {
        return !name.isEmpty() && name.chars().allMatch(each -> each == '%' || isTokenMark(each));
    }

    /** Returns a text as a part of the name of a header, as client-go escapes the keys of {@code as-user-extra}. */
    static String escaped(String key) {
        StringBuilder escaped = new StringBuilder();
        for (byte each : key.getBytes(StandardCharsets.UTF_8)) {
            if (isTokenMark(each)) {
                escaped.append((char) each);
            } else {
                escaped.append(String.format(Locale.ROOT, "%%%02x", each & 0xff));
            }
        }
        return escaped.toString();
    }

    private static boolean isTokenMark(int each) {
        return (each >= '0' && each <= '9')
                || (each >= 'a' && each <= 'z')
                || (each >= 'A' && each <= 'Z')
                || TOKEN_MARKS.indexOf(each) >= 0;
    }
}
