package dev.podcache.kubelet.server;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableListMultimap;
import com.google.common.net.MediaType;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The media types that a client accepts, in the order of its preference; of equal preference, those without a wildcard
 * first, as upstream sorts them. A part that cannot be parsed, or has the quality 0, is ignored. Immutable.
 */
final class AcceptHeader {

    private static final Splitter LIST = Splitter.on(',').trimResults().omitEmptyStrings();

    /** They ask for an object of a kind, instead of that which the endpoint has by default. */
    private static final Set<String> CONVERSION = Set.of("as", "g", "v");

    /** What no z-page has: a stream, and the version of the API server. */
    private static final Set<String> UNSUPPORTED = Set.of("stream", "sv");

    private final List<MediaType> ranges;

    private AcceptHeader(List<MediaType> ranges) {
        this.ranges = ranges;
    }

    /** How an answer may be written, in the order in which upstream tries them for a wildcard. */
    enum Form {
        JSON(MediaType.JSON_UTF_8),
        YAML(MediaType.create("application", "yaml")),
        TEXT(MediaType.PLAIN_TEXT_UTF_8);

        private final MediaType type;

        Form(MediaType type) {
            this.type = type.withoutParameters();
        }

        /** Returns the media type, without parameters. */
        String mediaType() {
            return type.toString();
        }
    }

    /**
     * The form of a z-page.
     *
     * @param version of the object, such as {@code v1beta1}; "" for text
     */
    record Chosen(Form form, String version) {}

    /** @param header "" if there is none: anything is accepted */
    static AcceptHeader of(String header) {
        if (header.isBlank()) {
            return new AcceptHeader(List.of(MediaType.ANY_TYPE));
        }
        return new AcceptHeader(LIST.splitToStream(header)
                .flatMap(part -> parsed(part).stream())
                .filter(range -> quality(range) > 0)
                // stable: ranges of one quality stay in the client's order
                .sorted(Comparator.comparingDouble(AcceptHeader::quality)
                        .reversed()
                        .thenComparing(range -> range.type().equals("*"))
                        .thenComparing(range -> range.subtype().equals("*")))
                .toList());
    }

    private static Optional<MediaType> parsed(String part) {
        try {
            return Optional.of(MediaType.parse(part));
        } catch (IllegalArgumentException notAMediaType) {
            return Optional.empty();
        }
    }

    private static double quality(MediaType range) {
        ImmutableList<String> given = range.parameters().get("q");
        try {
            return given.isEmpty() ? 1 : Double.parseDouble(given.get(0));
        } catch (NumberFormatException notANumber) {
            return 0;
        }
    }

    /**
     * Returns the form of a z-page that the client prefers: text, or JSON or YAML if the range names group, version and
     * kind, as in {@code application/json;g=config.k8s.io;v=v1beta1;as=Statusz}. Empty if the client accepts neither.
     */
    Optional<Chosen> zPage(String kind) {
        for (MediaType range : ranges) {
            for (Form form : Form.values()) {
                Optional<String> version = form.type.is(range.withoutParameters())
                        ? version(form, range.parameters(), kind)
                        : Optional.empty();
                if (version.isPresent()) {
                    return Optional.of(new Chosen(form, version.get()));
                }
            }
        }
        return Optional.empty();
    }

    private static Optional<String> version(Form form, ImmutableListMultimap<String, String> parameters, String kind) {
        if (!Collections.disjoint(parameters.keySet(), UNSUPPORTED)) {
            return Optional.empty();
        }
        if (form == Form.TEXT) {
            return Collections.disjoint(parameters.keySet(), CONVERSION) ? Optional.of("") : Optional.empty();
        }
        return parameters.containsEntry("g", ZPages.GROUP) && parameters.containsEntry("as", kind)
                ? ZPages.VERSIONS.stream()
                        .filter(version -> parameters.containsEntry("v", version))
                        .findFirst()
                : Optional.empty();
    }

    /** Returns the form of an error: the first of JSON and YAML in the order of the client; JSON if it accepts neither. */
    Form ofError() {
        return ranges.stream()
                .filter(range -> Collections.disjoint(range.parameters().keySet(), CONVERSION))
                .flatMap(range ->
                        List.of(Form.JSON, Form.YAML).stream().filter(form -> form.type.is(range.withoutParameters())))
                .findFirst()
                .orElse(Form.JSON);
    }
}
