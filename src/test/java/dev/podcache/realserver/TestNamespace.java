package dev.podcache.realserver;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.testing.Pods;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerFeature;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A namespace of a test's own on a real server, with an administrator who changes what is in it. */
final class TestNamespace implements AutoCloseable {

    private final RealApiServer server;
    private final KubernetesClient admin;
    private final String name;

    TestNamespace(RealApiServer server) {
        this.server = server;
        admin = server.client();
        name = server.createNamespaceLike("watched");
    }

    String name() {
        return name;
    }

    KubernetesClient admin() {
        return admin;
    }

    /** The resourceVersion of now. */
    String version() {
        return admin.namespaces().list().getMetadata().getResourceVersion();
    }

    /** Creates the Secret, or replaces it. */
    void put(String secret, String value) {
        admin.resource(Secrets.of(name, secret, value)).createOr(existing -> existing.update());
    }

    void delete(String secret) {
        admin.secrets().inNamespace(name).withName(secret).delete();
    }

    /** Creates {@link #pod} and returns it as an ordinary cluster has it: with the token volume of its account. */
    Pod createPod(String pod, String node, String... secrets) {
        return admin.resource(pod(pod, node, secrets)).create();
    }

    /** A pod that the server would take, bound to a node already. */
    Pod pod(String pod, String node, String... secrets) {
        return new PodBuilder(Pods.withSecrets(name, pod, "uid-" + pod, List.of(secrets)))
                .editSpec()
                .withNodeName(node)
                .editFirstContainer()
                .withImage("none")
                .endContainer()
                .endSpec()
                .build();
    }

    /** Runs kubectl as the administrator in this namespace. */
    String kubectl(String... arguments) {
        String[] here = new String[arguments.length + 1];
        here[0] = "--namespace=" + name;
        System.arraycopy(arguments, 0, here, 1, arguments.length);
        return server.kubectl(here);
    }

    /**
     * Makes a service account that may do something with two Secrets, {@code db} and {@code cert}, and nothing else.
     *
     * @param verbs such as {@code get,list,watch}
     * @return how it reaches the server: by token; as the administrator on a server without service accounts
     */
    Config serviceAccount(String verbs) {
        Config reader = accountWithoutAccess();
        if (!server.has(ServerFeature.SERVICE_ACCOUNTS)) {
            return reader;
        }
        kubectl(
                "create",
                "role",
                "reader",
                "--verb=" + verbs,
                "--resource=secrets",
                "--resource-name=db",
                "--resource-name=cert");
        allowReader();
        return reader;
    }

    /**
     * Makes a service account {@code reader} without permissions.
     *
     * @return how it reaches the server: by token; as the administrator on a server without service accounts
     */
    Config accountWithoutAccess() {
        if (!server.has(ServerFeature.SERVICE_ACCOUNTS)) {
            return server.config();
        }
        kubectl("create", "serviceaccount", "reader");
        return new ConfigBuilder(server.config())
                .withClientCertData(null)
                .withClientKeyData(null)
                .withOauthToken(token())
                .build();
    }

    /** Binds the role of the service account to it. */
    void allowReader() {
        kubectl("create", "rolebinding", "reader", "--role=reader", "--serviceaccount=" + name + ":reader");
    }

    /** Whether the server knows already, or still, that the service account may do that. */
    boolean readerMay(String verb) {
        String account = "system:serviceaccount:" + name + ":reader";
        try {
            return kubectl("auth", "can-i", verb, "secrets/db", "--as=" + account)
                    .startsWith("yes");
        } catch (IllegalStateException no) {
            return false;
        }
    }

    private String token() {
        try {
            Path request = Files.createTempFile("token", ".json");
            Files.writeString(request, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenRequest\"}");
            String path = "/api/v1/namespaces/" + name + "/serviceaccounts/reader/token";
            String answer = server.kubectl("create", "--raw", path, "--filename=" + request);
            Files.delete(request);
            return new ObjectMapper()
                    .readTree(answer)
                    .path("status")
                    .path("token")
                    .asText();
        } catch (JsonProcessingException e) {
            throw new AssertionError("the server's answer is no TokenRequest", e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A proxy in front of the server. */
    TcpProxy proxy() {
        return TcpProxy.to(URI.create(server.url()).getPort());
    }

    static KubernetesClient clientOf(Config config) {
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    /** A client that goes through {@code proxy}. */
    static KubernetesClient through(TcpProxy proxy, Config config) {
        return new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(config)
                        .withMasterUrl("https://127.0.0.1:" + proxy.port())
                        .build())
                .build();
    }

    @Override
    public void close() {
        admin.close();
    }
}
