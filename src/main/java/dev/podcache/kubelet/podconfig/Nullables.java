package dev.podcache.kubelet.podconfig;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Empty values in place of null, for fields that a manifest may omit or set to null. */
final class Nullables {

    private Nullables() {}

    static <T> List<T> orEmpty(@Nullable List<T> list) {
        return list == null ? List.of() : list;
    }

    static <V> Map<String, V> orEmpty(@Nullable Map<String, V> map) {
        return map == null ? Map.of() : map;
    }

    static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }
}
