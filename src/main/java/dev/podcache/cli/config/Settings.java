package dev.podcache.cli.config;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import com.google.common.collect.Range;
import dev.podcache.time.Durations;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.TypeConversionException;

/**
 * The fields that are set in a file or by flags, read as their types. Each method throws {@link
 * IllegalSettingException} if the value has another type or is out of range. Immutable.
 */
public final class Settings {

    /** No field is set. */
    public static final Settings NONE = new Settings(ImmutableMap.of());

    private static final String DURATION =
            "a positive duration with a unit, such as 10s, 1m30s or 500ms, of at most 292 years";

    private final ImmutableMap<String, Setting> fields;

    public Settings(Map<String, Setting> fields) {
        this.fields = ImmutableMap.copyOf(fields);
    }

    /** Returns these settings, and those of {@code others} for fields that are not set here. */
    Settings orElse(Settings others) {
        return new Settings(ImmutableMap.<String, Setting>builder()
                .putAll(others.fields)
                .putAll(fields)
                .buildKeepingLast());
    }

    /** Returns these settings over those of {@code others}: of a map that both have, the fields of both. */
    Settings mergedOver(Settings others) {
        Map<String, Setting> merged = new LinkedHashMap<>(others.fields);
        fields.forEach((name, setting) -> merged.merge(
                name,
                setting,
                (before, now) -> new Setting(now.where(), merged(before.value(), now.value()), now.ofFlag())));
        return new Settings(merged);
    }

    private static Object merged(Object before, Object now) {
        if (!(before instanceof Map<?, ?> old) || !(now instanceof Map<?, ?> over)) {
            return now;
        }
        Map<Object, Object> all = new LinkedHashMap<>(old);
        over.forEach((key, value) -> all.merge(key, value, Settings::merged));
        return all;
    }

    /** Returns these settings without one field. */
    Settings without(String field) {
        return new Settings(Maps.filterKeys(fields, name -> !name.equals(field)));
    }

    /** Returns the fields that are set. */
    ImmutableMap<String, Setting> fields() {
        return fields;
    }

    @Nullable
    Setting find(String field) {
        return fields.get(field);
    }

    private <T> T read(String field, T byDefault, Function<Setting, T> reader) {
        Setting setting = find(field);
        return setting == null ? byDefault : reader.apply(setting);
    }

    Duration duration(String field, Duration byDefault) {
        return read(field, byDefault, Settings::duration);
    }

    private static Duration duration(Setting setting) {
        if (setting.value() instanceof Duration duration) {
            return duration;
        }
        try {
            return new GoDuration().convert(setting.as(String.class, DURATION));
        } catch (TypeConversionException e) {
            throw setting.refused(DURATION);
        }
    }

    /** Returns a duration in a map, which may have no other field. */
    Duration duration(String field, String inMap, Duration byDefault) {
        return read(field, byDefault, setting -> {
            Map<?, ?> map = setting.as(Map.class, "a map, such as {" + inMap + ": " + Durations.text(byDefault) + "}");
            for (Object key : map.keySet()) {
                if (!inMap.equals(key)) {
                    throw setting.refused(key, inMap);
                }
            }
            Object value = map.get(inMap);
            return value == null
                    ? byDefault
                    : duration(new Setting(setting.where() + "." + inMap, value, setting.ofFlag()));
        });
    }

    /** Returns the fields of a map, which may have no others. */
    Settings part(String field, String... allowed) {
        return read(field, NONE, setting -> {
            Map<String, Setting> parts = new LinkedHashMap<>();
            Map<?, ?> map = setting.as(Map.class, "a map with " + String.join(" or ", allowed));
            map.forEach((key, value) -> {
                if (!List.of(allowed).contains(key.toString())) {
                    throw setting.refused(key, String.join(" or ", allowed));
                }
                parts.put(key.toString(), new Setting(setting.where() + "." + key, value, setting.ofFlag()));
            });
            return new Settings(parts);
        });
    }

    int integer(String field, Range<Integer> allowed, int byDefault) {
        return read(field, byDefault, setting -> {
            String range = "a whole number from " + allowed.lowerEndpoint() + " to " + allowed.upperEndpoint()
                    + ", without quotes";
            try {
                int value = setting.as(BigDecimal.class, range).intValueExact();
                if (allowed.contains(value)) {
                    return value;
                }
            } catch (ArithmeticException fractionOrHuge) {
                // refused below
            }
            throw setting.refused(range);
        });
    }

    boolean bool(String field, boolean byDefault) {
        return read(field, byDefault, setting -> setting.as(Boolean.class, "true or false"));
    }

    String text(String field, String byDefault) {
        return text(field, Function.identity(), byDefault);
    }

    /** Returns the result of {@code parser} for a text. */
    <T> T text(String field, Function<String, T> parser, T byDefault) {
        return read(field, byDefault, setting -> {
            String text = setting.as(String.class, "text: put it in quotes");
            return setting.read(() -> parser.apply(text));
        });
    }

    /** Returns the result of {@code parser} for a list of texts. */
    <T> T list(String field, Function<ImmutableList<String>, T> parser, T byDefault) {
        return read(field, byDefault, setting -> {
            if (!(setting.value() instanceof List<?> values) || !values.stream().allMatch(String.class::isInstance)) {
                throw setting.refused("a list of texts, such as [pods]");
            }
            ImmutableList<String> texts =
                    values.stream().map(Object::toString).collect(ImmutableList.toImmutableList());
            return setting.read(() -> parser.apply(texts));
        });
    }

    /** Returns the result of {@code parser} for a map of text to text. */
    <T> T map(String field, Function<ImmutableMap<String, String>, T> parser, T byDefault) {
        return read(field, byDefault, setting -> {
            ImmutableMap<String, String> texts = texts(setting);
            return setting.read(() -> parser.apply(texts));
        });
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
