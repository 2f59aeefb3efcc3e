package dev.podcache.cli.config;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Range;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.TypeConversionException;

/**
 * What was written for some fields, and what was not, read as the types that the fields have. Every reader throws
 * {@link IllegalSettingException} for a value of another type or out of range. Immutable.
 */
public final class Settings {

    /** Nothing was written. */
    public static final Settings NONE = new Settings(ImmutableMap.of());

    private static final String DURATION =
            "a positive duration with a unit, such as 10s, 1m30s or 500ms, of at most 292 years";

    private final ImmutableMap<String, Setting> fields;

    public Settings(Map<String, Setting> fields) {
        this.fields = ImmutableMap.copyOf(fields);
    }

    /** These, and for fields that they lack, those. */
    Settings orElse(Settings others) {
        return new Settings(ImmutableMap.<String, Setting>builder()
                .putAll(others.fields)
                .putAll(fields)
                .buildKeepingLast());
    }

    @Nullable
    Setting find(String field) {
        return fields.get(field);
    }

    Duration duration(String field, Duration byDefault) {
        Setting setting = find(field);
        if (setting == null) {
            return byDefault;
        }
        if (setting.value() instanceof Duration duration) {
            return duration;
        }
        if (!(setting.value() instanceof String text)
                || text.isEmpty()
                || !Character.isLetter(text.charAt(text.length() - 1))) {
            throw setting.refused(DURATION);
        }
        try {
            return new GoDuration().convert(text);
        } catch (TypeConversionException e) {
            throw setting.refused(DURATION);
        }
    }

    int integer(String field, Range<Integer> allowed, int byDefault) {
        Setting setting = find(field);
        if (setting == null) {
            return byDefault;
        }
        if (setting.value() instanceof BigDecimal number) {
            try {
                int value = number.intValueExact();
                if (allowed.contains(value)) {
                    return value;
                }
            } catch (ArithmeticException fractionOrHuge) {
                // is out of range, too
            }
        }
        throw setting.refused("a whole number from " + allowed.lowerEndpoint() + " to " + allowed.upperEndpoint()
                + ", without quotes");
    }

    boolean bool(String field, boolean byDefault) {
        Setting setting = find(field);
        if (setting == null) {
            return byDefault;
        }
        if (setting.value() instanceof Boolean bool) {
            return bool;
        }
        throw setting.refused("true or false");
    }

    String text(String field, String byDefault) {
        Setting setting = find(field);
        if (setting == null) {
            return byDefault;
        }
        if (setting.value() instanceof String text) {
            return text;
        }
        throw setting.refused("text: put it in quotes");
    }

    /** What {@code parser} makes of text. */
    <T> T text(String field, Function<String, T> parser, T byDefault) {
        Setting setting = find(field);
        if (setting == null) {
            return byDefault;
        }
        String text = text(field, "");
        return setting.read(() -> parser.apply(text));
    }

    /** What {@code parser} makes of a map of text to text. */
    <T> T map(String field, Function<ImmutableMap<String, String>, T> parser, T byDefault) {
        Setting setting = find(field);
        if (setting == null) {
            return byDefault;
        }
        ImmutableMap<String, String> texts = texts(setting);
        return setting.read(() -> parser.apply(texts));
    }

    private static ImmutableMap<String, String> texts(Setting setting) {
        if (!(setting.value() instanceof Map<?, ?> map)) {
            throw setting.refused("a map, such as {memory: 1Gi}");
        }
        ImmutableMap.Builder<String, String> texts = ImmutableMap.builder();
        map.forEach((key, value) -> {
            if (!(value instanceof String text)) {
                throw setting.refused(value, "text: put the value of " + key + " in quotes");
            }
            texts.put(key.toString(), text);
        });
        return texts.buildOrThrow();
    }
}
