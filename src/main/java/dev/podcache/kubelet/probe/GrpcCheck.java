package dev.podcache.kubelet.probe;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableList;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Calls {@code grpc.health.v1.Health/Check} without TLS and judges the answer. Encodes the two messages by hand, because
 * they have one field each. Thread-safe.
 */
final class GrpcCheck {

    // follows pkg/probe/grpc/grpc.go of Kubernetes and health.proto of gRPC

    private static final int PREFIX = 5; // compressed flag and length
    private static final int SERVICE_FIELD = 0x0a; // field 1, length-delimited
    private static final int STATUS_FIELD = 0x08; // field 1, varint
    private static final int OK = 0;
    private static final int UNIMPLEMENTED = 12;
    private static final int SERVING = 1;

    private static final ImmutableList<String> SERVING_STATUSES =
            ImmutableList.of("UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN");

    private static final ImmutableList<String> CODES = ImmutableList.of(
            "OK",
            "Canceled",
            "Unknown",
            "InvalidArgument",
            "DeadlineExceeded",
            "NotFound",
            "AlreadyExists",
            "PermissionDenied",
            "ResourceExhausted",
            "FailedPrecondition",
            "Aborted",
            "OutOfRange",
            "Unimplemented",
            "Internal",
            "Unavailable",
            "DataLoss",
            "Unauthenticated");

    private final ProbeNetwork network;

    GrpcCheck(ProbeNetwork network) {
        this.network = network;
    }

    /** Starts a check of {@code service}, or of the whole server if that is null. The connection closes at {@code end}. */
    CompletableFuture<ProbeOutcome> run(
            ProbeAddress address, @Nullable String service, Duration timeout, CompletableFuture<?> end) {
        return network.call(address, request(Strings.nullToEmpty(service)), timeout, end)
                .handle((response, thrown) -> thrown == null
                        ? judged(response)
                        : ProbeOutcome.failure(
                                "error: failed to connect service at \"" + address + "\": " + address.dialed(thrown)));
    }

    static byte[] request(String service) {
        byte[] name = service.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        if (name.length > 0) {
            message.write(SERVICE_FIELD);
            for (int rest = name.length; ; rest >>>= 7) {
                if (rest < 0x80) {
                    message.write(rest);
                    break;
                }
                message.write((rest & 0x7f) | 0x80);
            }
            message.writeBytes(name);
        }
        int length = message.size();
        ByteArrayOutputStream framed = new ByteArrayOutputStream();
        framed.writeBytes(
                new byte[] {0, (byte) (length >>> 24), (byte) (length >>> 16), (byte) (length >>> 8), (byte) length});
        framed.writeBytes(message.toByteArray());
        return framed.toByteArray();
    }

    static ProbeOutcome judged(GrpcResponse response) {
        int code = response.code();
        if (response.httpStatus() != 200) {
            return failed("Unknown", "unexpected HTTP status code received from server: " + response.httpStatus());
        }
        if (code == UNIMPLEMENTED) {
            return ProbeOutcome.failure(
                    "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): "
                            + response.message());
        }
        if (code != OK) {
            return failed(code > 0 && code < CODES.size() ? CODES.get(code) : "Code(" + code + ")", response.message());
        }
        int status = servingStatus(response.body());
        if (status != SERVING) {
            String name = status >= 0 && status < SERVING_STATUSES.size()
                    ? SERVING_STATUSES.get(status)
                    : String.valueOf(status);
            return ProbeOutcome.failure("service unhealthy (responded with \"" + name + "\")");
        }
        return ProbeOutcome.success("service healthy");
    }

    private static ProbeOutcome failed(String code, String description) {
        return ProbeOutcome.failure(
                "error: health rpc probe failed: rpc error: code = " + code + " desc = " + description);
    }

    /** Returns the field of a HealthCheckResponse: one byte, as all its values are below 128; 0 if it is missing. */
    private static int servingStatus(byte[] framed) {
        return framed.length >= PREFIX + 2 && framed[0] == 0 && framed[PREFIX] == STATUS_FIELD ? framed[PREFIX + 1] : 0;
    }

    /**
     * A response. Immutable, provided that the body is not modified.
     *
     * @param code the gRPC status; 2, unknown, if the server sent none
     * @param message the gRPC message; may be empty
     * @param body the framed message; empty if there is none
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record GrpcResponse(int httpStatus, int code, String message, byte[] body) {}
}
