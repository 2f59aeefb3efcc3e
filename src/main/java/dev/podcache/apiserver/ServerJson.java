package dev.podcache.apiserver;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;

/**
 * Reads the JSON of an API server. It stores custom resources of 10,000 levels, and with field names of any length; Jackson
 * by itself reads 1,000 levels and 50,000 characters. What is stored must be readable: otherwise one object keeps all others
 * of its kind from being listed. Whoever uses this bounds the length of the text.
 */
public final class ServerJson {

    /** The levels of an object, and those around it in a list or an event. */
    private static final int LEVELS = 10_010;

    /** Thread-safe. */
    public static final JsonFactory FACTORY = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(LEVELS)
                    .maxNameLength(Integer.MAX_VALUE)
                    .maxStringLength(Integer.MAX_VALUE)
                    .build())
            .build();

    private ServerJson() {}
}
