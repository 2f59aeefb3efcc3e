package dev.podcache.kubelet.server;

import com.google.common.primitives.Longs;
import dev.podcache.kubelet.runtime.ContainerLogs.LogOptions;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a request for logs. Immutable.
 *
 * <p>Decodes and validates as upstream's {@code getContainerLogs} does: 400 for what is no value of its type, 422 for a
 * value that is not allowed. Unlike upstream's, the messages name the parameter.
 *
 * @param limitBytes the number of bytes to send at most; empty for all
 */
record LogParameters(LogOptions options, OptionalLong limitBytes) {

    /**
     * Returns the parameters of a request.
     *
     * @throws RefusedException if a parameter is invalid
     */
    static LogParameters of(KubeletRequest request, Instant now) {
        OptionalLong sinceSeconds = number(request, "sinceSeconds", 1);
        Optional<Instant> sinceTime = time(request);
        if (sinceSeconds.isPresent() && sinceTime.isPresent()) {
            throw invalid("at most one of sinceTime and sinceSeconds may be specified");
        }
        requireAllStreams(request);
        Optional<Instant> since =
                sinceSeconds.isPresent() ? Optional.of(before(now, sinceSeconds.getAsLong())) : sinceTime;
        LogOptions options = new LogOptions(
                truth(request, "follow"),
                truth(request, "previous"),
                truth(request, "timestamps"),
                tail(request),
                since);
        return new LogParameters(options, number(request, "limitBytes", 1));
    }

    /** The parameter {@code tail} is an older name, which wins. */
    private static OptionalLong tail(KubeletRequest request) {
        String tail = request.parameter("tail");
        if (tail == null || tail.isEmpty()) {
            return number(request, "tailLines", 0);
        }
        return tail.equals("all") ? OptionalLong.empty() : number(request, "tail", 0);
    }

    private static OptionalLong number(KubeletRequest request, String name, long least) {
        String text = request.parameter(name);
        if (text == null || text.isEmpty()) {
            return OptionalLong.empty();
        }
        Long number = Longs.tryParse(text);
        if (number == null) {
            throw undecodable(name + " is not an integer");
        }
        if (number < least) {
            throw invalid(name + " must be " + (least == 0 ? "0 or greater" : "greater than 0"));
        }
        return OptionalLong.of(number);
    }

    /** As {@code Convert_Slice_string_To_bool} of apimachinery: everything else is true. */
    private static boolean truth(KubeletRequest request, String name) {
        @Nullable String text = request.parameter(name);
        return text != null
                && !text.equals("0")
                && !text.toLowerCase(Locale.ROOT).equals("false");
    }

    private static Optional<Instant> time(KubeletRequest request) {
        String text = request.parameter("sinceTime");
        if (text == null || text.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(OffsetDateTime.parse(text).toInstant());
        } catch (DateTimeException e) {
            throw undecodable("sinceTime is not a time in RFC 3339 format");
        }
    }

    private static Instant before(Instant now, long seconds) {
        long all = now.getEpochSecond();
        return seconds > all ? Instant.EPOCH : now.minusSeconds(seconds);
    }

    private static void requireAllStreams(KubeletRequest request) {
        String stream = request.parameter("stream");
        if (stream != null && !stream.isEmpty() && !stream.equals("All")) {
            throw invalid("stream must be All: this node keeps standard output and standard error together");
        }
    }

    private static RefusedException undecodable(String why) {
        return new RefusedException(400, "{\"message\": \"Unable to decode query: " + why + ".\"}");
    }

    private static RefusedException invalid(String why) {
        return new RefusedException(422, "{\"message\": \"Invalid request: " + why + ".\"}");
    }
}
