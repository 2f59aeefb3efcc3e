package dev.podcache.cli.config;

import dev.podcache.object.Quoted;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The value that is set for one field.
 *
 * @param where the place for error messages: file, line and field, or the flag
 * @param value String, BigDecimal, Boolean, Map or List; a flag may have another type
 * @param ofFlag whether the value comes from the command line
 */
public record Setting(String where, Object value, boolean ofFlag) {

    public static Setting ofFlag(String flag, Object value) {
        return new Setting(flag, value, true);
    }

    /** Returns the value as {@code type}, or throws that it must be {@code allowed}. */
    <T> T as(Class<T> type, String allowed) {
        if (type.isInstance(value)) {
            return type.cast(value);
        }
        throw refused(allowed);
    }

    /** Returns an exception: the value is not allowed. */
    IllegalSettingException refused(String allowed) {
        return new IllegalSettingException(where + " is " + shown(value) + ": it must be " + allowed, ofFlag);
    }

    /** Returns an exception: a part of the value is not allowed. */
    IllegalSettingException refused(Object part, String allowed) {
        return new IllegalSettingException(where + " has " + shown(part) + ": it must be " + allowed, ofFlag);
    }

    /** Returns the result of {@code parser}. Adds the place to the message of an exception that it throws. */
    <T> T read(Supplier<T> parser) {
        try {
            return parser.get();
        } catch (IllegalArgumentException e) {
            throw new IllegalSettingException(where + ": " + e.getMessage(), ofFlag);
        }
    }

    /** Returns a value as error messages quote it: text in quotation marks, cut to a bounded length. */
    static String shown(Object value) {
        if (value instanceof Map) {
            return "a map";
        }
        if (value instanceof List) {
            return "a list";
        }
        return value instanceof String text ? Quoted.value(text) : Quoted.text(value.toString());
    }
}
