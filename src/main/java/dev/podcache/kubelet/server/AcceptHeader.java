package dev.podcache.kubelet.server;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.net.MediaType;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The media types that a client accepts, in the order of its preference. A part that cannot be parsed is ignored.
 * Immutable.
 */
final class AcceptHeader {

    private static final Splitter LIST = Splitter.on(',').trimResults().omitEmptyStrings();

    private final List<MediaType> types;

    private AcceptHeader(List<MediaType> types) {
        this.types = types;
    }

    /** How an answer may be written. */
    enum Form {
        TEXT,
        JSON
    }

    static AcceptHeader of(String header) {
        if (header.isBlank()) {
            return new AcceptHeader(List.of(MediaType.ANY_TYPE));
        }
        return new AcceptHeader(LIST.splitToStream(header)
                .flatMap(part -> parsed(part).stream())
                .filter(type -> quality(type) > 0)
                // stable: types of one quality stay in the client's order
                .sorted(Comparator.comparingDouble(AcceptHeader::quality).reversed())
                .toList());
    }

    private static Optional<MediaType> parsed(String part) {
        try {
            return Optional.of(MediaType.parse(part));
        } catch (IllegalArgumentException notAMediaType) {
            return Optional.empty();
        }
    }

    private static double quality(MediaType type) {
        ImmutableList<String> given = type.parameters().get("q");
        try {
            return given.isEmpty() ? 1 : Double.parseDouble(given.get(0));
        } catch (NumberFormatException notANumber) {
            return 0;
        }
    }

    /**
     * Returns the form of a z-page that the client prefers: text, or JSON if the type names group, version and kind, as
     * in {@code application/json;g=config.k8s.io;v=v1beta1;as=Statusz}. Empty if the client accepts neither.
     */
    Optional<Form> zPage(String kind) {
        for (MediaType type : types) {
            if (MediaType.PLAIN_TEXT_UTF_8.withoutParameters().is(type.withoutParameters())) {
                return Optional.of(Form.TEXT);
            }
            if (type.withoutParameters().is(MediaType.JSON_UTF_8.withoutParameters()) && names(type, kind)) {
                return Optional.of(Form.JSON);
            }
        }
        return Optional.empty();
    }

    private static boolean names(MediaType type, String kind) {
        return type.parameters().containsEntry("g", ZPages.GROUP)
                && type.parameters().containsEntry("v", ZPages.VERSION)
                && type.parameters().containsEntry("as", kind);
    }
}
