package dev.podcache.cli.config;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.kubelet.certificate.CertificateRequestException;
import dev.podcache.kubelet.certificate.CertificateRotation;
import dev.podcache.kubelet.certificate.NodeCertificate;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The credentials of the node that an agent runs: those of {@code --kubeconfig}, requested with {@code
 * --bootstrap-kubeconfig} if they are missing or have expired, and rotated. Not thread-safe.
 */
public final class NodeCredentials {

    private static final Logger log = LoggerFactory.getLogger(NodeCredentials.class);

    private final CredentialFiles files;
    private final boolean rotates;
    private final Console console;
    private final NodeCertificate certificate;
    private volatile String waitsFor = ""; // written by the request of the certificate, on another thread

    /**
     * Where credentials are.
     *
     * @param kubeconfig null if none was named
     * @param bootstrap null without a bootstrap; needs {@code kubeconfig}
     * @param directory of the certificates
     */
    record CredentialFiles(
            @Nullable Path kubeconfig, @Nullable Path bootstrap, Path directory) {}

    /**
     * Creates an instance. Reads nothing.
     *
     * @param rotates whether the client certificate is rotated
     */
    NodeCredentials(CredentialFiles files, String node, boolean rotates, Console console) {
        this.files = files;
        this.rotates = rotates;
        this.console = console;
        this.certificate = NodeCertificate.of(node, files.directory());
    }

    /**
     * Requests a certificate, if there is a bootstrap and no valid certificate, and waits until it is signed.
     *
     * @param limit null to wait without limit
     * @return false if the command is to end
     * @throws CommandException if somebody has to do something first, or {@code limit} has passed; the message says what
     *     is to be done
     */
    public boolean obtain(@Nullable Duration limit, EventWriter events) {
        Path kubeconfig = files.kubeconfig();
        Path bootstrap = files.bootstrap();
        if (bootstrap == null || kubeconfig == null) {
            return true;
        }
        Instant now = Instant.now();
        String why = KubeconfigCertificate.whyUnusable(kubeconfig, now);
        if (why.isEmpty()) {
            return true;
        }
        KubeconfigCertificate.requireReplaceable(kubeconfig);
        Config with =
                new ClusterAccess(console.environment(), console.home()).config(bootstrap, "--bootstrap-kubeconfig");
        if (certificate.validAt(now).isEmpty()) {
            events.write(ProgramEvent.of("bootstrap", "message", why + "; requesting one with " + bootstrap));
            if (!request(with, limit, events)) {
                return false;
            }
        }
        try {
            KubeconfigCertificate.write(kubeconfig, bootstrap, certificate.file());
        } catch (IOException e) {
            throw new CommandException("kubeconfig " + kubeconfig + " cannot be written: " + e, e);
        }
        return true;
    }

    private boolean request(Config with, @Nullable Duration limit, EventWriter events) {
        try (Fabric8ApiServer server = ClusterAccess.server(with, RequestLimit.DEFAULT)) {
            CompletableFuture<?> requested = certificate.request(server, line -> {
                waitsFor = line;
                events.write(ProgramEvent.of("waiting", "message", line));
            });
            CompletableFuture<String> over = requested.handle((issued, thrown) -> "");
            if (limit != null) {
                over.completeOnTimeout("", limit.toNanos(), TimeUnit.NANOSECONDS);
            }
            if (!console.await(over, events)) {
                return false;
            }
            if (!requested.isDone()) {
                throw failed(with, "no certificate within --for; " + waitsFor, null);
            }
            requested.join();
            String text = certificate + " was issued";
            events.write(ProgramEvent.of("certificate", "message", text));
            return true;
        } catch (CompletionException e) {
            Throwable cause = ApiServerException.causeOf(e);
            throw failed(with, String.valueOf(cause.getMessage()), cause);
        }
    }

    private static CommandException failed(Config with, String why, @Nullable Throwable cause) {
        return new CommandException("API server " + with.getMasterUrl() + ": " + why, cause);
    }

    /**
     * Returns the configuration to reach the cluster. A certificate to be rotated is copied from the kubeconfig into the
     * directory of the certificates, and used from there, as a kubelet does.
     *
     * @throws CommandException if there is none, or it is invalid
     */
    public Config config() {
        Config config = new ClusterAccess(console.environment(), console.home()).config(files.kubeconfig());
        String file = certificate.file().toString();
        if (!rotates || file.equals(config.getClientCertFile())) {
            return config;
        }
        Instant now = Instant.now();
        try {
            Optional<String> pem = KubeconfigCertificate.pem(config);
            if (pem.isEmpty()) {
                log.warn("the credentials in the kubeconfig are no client certificate, so nothing is rotated");
                return config;
            }
            if (certificate.validAt(now).isEmpty()) {
                certificate.store(pem.get(), now);
            }
        } catch (IOException | CertificateRequestException e) {
            log.warn("the client certificate in the kubeconfig is not rotated: {}", e.getMessage());
            return config;
        }
        return new ConfigBuilder(config)
                .withAutoConfigure(false)
                .withClientCertData(null)
                .withClientKeyData(null)
                .withClientCertFile(file)
                .withClientKeyFile(file)
                .build();
    }

    /**
     * Starts to rotate the certificate, if that is wanted and the certificate is ours.
     *
     * @param config of {@link #config}
     * @param server with {@code config}
     * @return to be closed before {@code server}
     */
    public Optional<CertificateRotation> rotate(Config config, Fabric8ApiServer server) {
        if (!rotates || !certificate.file().toString().equals(config.getClientCertFile())) {
            return Optional.empty();
        }
        CertificateRotation rotation = CertificateRotation.of(certificate, server);
        rotation.start();
        return Optional.of(rotation);
    }
}
