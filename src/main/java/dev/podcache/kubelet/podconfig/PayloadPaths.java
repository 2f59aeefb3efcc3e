package dev.podcache.kubelet.podconfig;

import com.google.common.base.Splitter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where in a volume a file may lie. Follows {@code validatePath} of the kubelet's {@code
 * pkg/volume/util/atomic_writer.go}; lengths are in bytes of UTF-8.
 */
final class PayloadPaths {

    private static final int MAX_PATH = 4096;
    private static final int MAX_NAME = 255;
    private static final Splitter SEGMENTS = Splitter.on('/');

    private PayloadPaths() {}

    /** What is wrong with {@code path}, or null if nothing is. */
    static @Nullable String problem(String path) {
        if (path.isEmpty()) {
            return "invalid path: must not be empty: \"\"";
        }
        if (path.startsWith("/")) {
            return "invalid path: must be relative path: " + path;
        }
        if (bytes(path) > MAX_PATH) {
            return "invalid path: must be less than or equal to " + MAX_PATH + " characters";
        }
        for (String name : SEGMENTS.split(path)) {
            if (name.equals("..")) {
                return "invalid path: must not contain '..': " + path;
            }
            if (bytes(name) > MAX_NAME) {
                return "invalid path: filenames must be less than or equal to " + MAX_NAME + " characters";
            }
        }
        String cleaned = cleaned(path);
        if (cleaned.startsWith("..")) {
            return "invalid path: must not start with '..': " + path;
        }
        return cleaned.isEmpty() ? "invalid path: must name a file: " + path : null;
    }

    /** The shortest path to the same file; only for a path without a problem. */
    static String cleaned(String path) {
        List<String> names = SEGMENTS.splitToStream(path)
                .filter(name -> !name.isEmpty() && !name.equals("."))
                .toList();
        return String.join("/", names);
    }

    /** The name that is visible at the top of the volume. */
    static String top(String path) {
        int slash = path.indexOf('/');
        return slash < 0 ? path : path.substring(0, slash);
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
