package dev.podcache.cli.config;

import dev.podcache.object.Quoted;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What was written for one field.
 *
 * @param where for complaints: the file, the line and the field, or the flag
 * @param value as YAML or the command line has it: String, BigDecimal, Boolean, Map or List; of
 *     flags also their own types
 * @param ofFlag whether it comes from the command line
 */
public record Setting(String where, Object value, boolean ofFlag) {

    public static Setting ofFlag(String flag, Object value) {
        return new Setting(flag, value, true);
    }

    /** A complaint that the value is none of what is allowed. */
    IllegalSettingException refused(String allowed) {
        return new IllegalSettingException(where + " is " + shown(value) + ": it must be " + allowed, ofFlag);
    }

    /** A complaint about a part of the value. */
    IllegalSettingException refused(Object part, String allowed) {
        return new IllegalSettingException(where + " has " + shown(part) + ": it must be " + allowed, ofFlag);
    }

    /** What {@code parser} makes of the value; what it throws says what is wrong, and this says where. */
    <T> T read(Supplier<T> parser) {
        try {
            return parser.get();
        } catch (IllegalArgumentException e) {
            throw new IllegalSettingException(where + ": " + e.getMessage(), ofFlag);
        }
    }

    /** A value as complaints quote it: texts in quotation marks, and cut. */
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
