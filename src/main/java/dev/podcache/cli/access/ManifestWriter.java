package dev.podcache.cli.access;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.base.Ascii;
import com.google.common.collect.ImmutableSet;
import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.EventWriter;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Writes manifests for {@code kubectl apply -f -}: YAML documents, or one JSON object a line. */
public final class ManifestWriter {

    /** Text that needs no quotation marks. Others, such as {@code 0777}, could be read as a number. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z][A-Za-z0-9./-]*[A-Za-z0-9]");

    /** What kubectl reads as a boolean or as nothing. */
    private static final ImmutableSet<String> NO_TEXT =
            ImmutableSet.of("yes", "no", "on", "off", "true", "false", "null");

    private static final ObjectMapper JSON = new ObjectMapper();

    private ManifestWriter() {}

    /**
     * Writes manifests in their order.
     *
     * @throws CommandException if the output cannot be written
     */
    public static void write(List<Map<String, Object>> manifests, EventWriter.Format format, PrintStream out) {
        for (Map<String, Object> manifest : manifests) {
            if (format == EventWriter.Format.JSON) {
                out.println(json(manifest));
            } else {
                out.print(document(manifest) + "\n");
            }
        }
        if (out.checkError()) {
            throw new CommandException(
                    "standard output cannot be written: its reader closed it, or its disk is full", null);
        }
    }

    /** Returns the manifest as a YAML document, without a line break at the end. */
    public static String document(Map<String, Object> manifest) {
        return "---\n" + yaml(manifest).stripTrailing();
    }

    /** Returns the manifest as YAML: a line for each field, and for each element of its lists. */
    private static String yaml(Map<String, Object> manifest) {
        StringBuilder text = new StringBuilder();
        manifest.forEach((field, value) -> {
            text.append(field).append(':');
            if (value instanceof List<?> list) {
                list.forEach(element -> text.append("\n  - ").append(flow(element)));
            } else {
                text.append(' ').append(flow(value));
            }
            text.append('\n');
        });
        return text.toString();
    }

    private static String flow(Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(field -> field.getKey() + ": " + flow(field.getValue()))
                    .collect(Collectors.joining(", ", "{", "}"));
        }
        if (value instanceof List<?> list) {
            return list.stream().map(ManifestWriter::flow).collect(Collectors.joining(", ", "[", "]"));
        }
        String text = value.toString();
        boolean plain = PLAIN.matcher(text).matches() && !NO_TEXT.contains(Ascii.toLowerCase(text));
        return plain ? text : json(text);
    }

    private static String json(Object value) {
        try {
            return JSON.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("not expressible as JSON: " + value, e);
        }
    }
}
