package dev.podcache.apiserver.stream;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;

/**
 * Collects the body of one answer, up to a bound: whoever sends more is no API server in good health, and must not
 * cost us the heap. Not thread-safe.
 */
public final class AnswerBody {

    /** One object, or one event of a watch, in bytes: ten times what etcd takes. */
    public static final int LONGEST_OBJECT = 16 << 20;

    /** One list, in bytes: the longest that a node reads are the Services of its cluster, some 50 MB of 20,000. */
    public static final int LONGEST_LIST = 64 << 20;

    private final int longest;
    private Buffer bytes = Buffer.buffer();

    /**
     * An empty body.
     *
     * @param longest how many bytes it may have
     */
    public AnswerBody(int longest) {
        this.longest = longest;
    }

    /**
     * Takes the next chunk.
     *
     * @return false if the body is too long; what came so far is forgotten then
     */
    public boolean add(ByteBuffer chunk) {
        if (!fits(chunk.remaining())) {
            return false;
        }
        byte[] copy = new byte[chunk.remaining()];
        chunk.get(copy);
        bytes.appendBytes(copy);
        return true;
    }

    /** The same for a chunk of Vert.x'. */
    boolean add(Buffer chunk) {
        if (!fits(chunk.length())) {
            return false;
        }
        bytes.appendBuffer(chunk);
        return true;
    }

    /** What came so far. */
    public byte[] bytes() {
        return bytes.getBytes();
    }

    /** What a body that is too long means to whoever asked for {@code what}. */
    public ApiServerException tooLong(String what) {
        return ApiServerException.withoutAnswer(
                FailureReason.UNREADABLE, what, "the answer is longer than " + longest + " bytes", null);
    }

    private boolean fits(int more) {
        if (more <= longest - bytes.length()) {
            return true;
        }
        bytes = Buffer.buffer();
        return false;
    }
}
