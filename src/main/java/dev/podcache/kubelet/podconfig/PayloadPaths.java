package dev.podcache.kubelet.podconfig;

import com.google.common.base.Splitter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Validates and cleans the paths of files in a volume. Follows {@code validatePath} of the kubelet's {@code
 * pkg/volume/util/atomic_writer.go}. Lengths are in bytes of UTF-8.
 */
final class PayloadPaths {

    private static final int MAX_PATH = 4096;
    private static final int MAX_NAME = 255;
    private static final Splitter SEGMENTS = Splitter.on('/');

    private PayloadPaths() {}

    /** Returns why {@code path} is not allowed, or null if it is. */
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

    /** Returns {@code path} without empty segments and {@code .} segments. */
    static String cleaned(String path) {
        List<String> names = SEGMENTS.splitToStream(path)
                .filter(name -> !name.isEmpty() && !name.equals("."))
                .toList();
        return String.join("/", names);
    }

    /** Returns the first segment of a cleaned path: the name in the volume's root directory. */
    static String top(String path) {
        int slash = path.indexOf('/');
        return slash < 0 ? path : path.substring(0, slash);
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
