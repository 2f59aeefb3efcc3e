package dev.podcache.kubelet.podconfig;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Lists and maps that a manifest may leave out or set to null. */
final class AbsentObject {

    private AbsentObject() {}

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
