package dev.podcache.apiserver.fabric8;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FullModels;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequest;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;
import java.io.ByteArrayInputStream;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A server that is made of a configuration reads and writes objects as fabric8 itself does: objects with every field of
 * their class, and with what no class knows.
 */
@ExtendWith(NoLeaks.class)
class ModelDecodingTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(Patience.SECONDS);
    private final KubernetesSerialization expected = new KubernetesSerialization();
    private final ScriptedServer network = new ScriptedServer();
    private final Fabric8ApiServer server = Fabric8ApiServer.of(
            new ConfigBuilder(Config.empty()).withMasterUrl(network.url()).build(), new RequestLimit(1000, 1000));

    @AfterEach
    void tearDown() {
        server.close();
        network.close();
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                Pod.class,
                Node.class,
                Secret.class,
                ConfigMap.class,
                ServiceAccount.class,
                Event.class,
                Lease.class,
                CertificateSigningRequest.class
            })
    <T extends HasMetadata> void object_withEveryField_isReadAndWrittenAsByFabric8(Class<T> model) {
        ObjectKind<T> kind = ObjectKind.of(model);
        String json = full(kind);
        network.answer("200 OK", json);

        T read = get(kind).join();
        server.api(kind, TIMEOUT).update(read).join();

        T byFabric8 = read(json, model);
        assertThat(read).isEqualTo(byFabric8);
        assertThat(network.lastBody).contains("fieldOfTheFuture").isEqualTo(expected.asJson(byFabric8));
    }

    @Test
    void firstPods_readAtTheSameTime_areReadAsByFabric8() {
        String json = full(ObjectKind.POD);
        network.answer("200 OK", json);

        List<CompletableFuture<Pod>> pods =
                Stream.generate(() -> get(ObjectKind.POD)).limit(8).toList();

        Pod byFabric8 = read(json, Pod.class);
        assertThat(pods).allSatisfy(pod -> assertThat(pod.join()).isEqualTo(byFabric8));
    }

    /** A part of a user's class, whose fields are those of the object around it. */
    static final class UnwrappedCount {

        @JsonProperty
        int replicas;
    }

    /** A class of a user, with a field that is part of the object around it. */
    static final class UnwrappedSpec {

        @JsonUnwrapped
        @JsonProperty
        UnwrappedCount size = new UnwrappedCount();
    }

    /** A custom resource of a user. */
    @Group("example.dev")
    @Version("v1")
    static final class Scaled extends CustomResource<UnwrappedSpec, Void> {}

    @Test
    void classOfAUserWithAnUnwrappedField_isReadAsByFabric8() {
        String json = "{\"kind\":\"Scaled\",\"apiVersion\":\"example.dev/v1\",\"metadata\":{\"name\":\"text\"},"
                + "\"spec\":{\"replicas\":3}}";
        network.answer("200 OK", json);

        assertThat(read(json, Scaled.class).getSpec().size.replicas).isEqualTo(3);
        assertThat(get(ObjectKind.of(Scaled.class)).join().getSpec().size.replicas)
                .isEqualTo(3);
    }

    /** On fabric8 8, whose mapper is of Jackson 3, it is fabric8's own. */
    @Test
    void serialization_ofAModelForJackson2_makesDeserializersLate() throws Exception {
        Field field = KubernetesSerialization.class.getDeclaredField("mapper");
        field.setAccessible(true);
        Object mapper = field.get(Fabric8ApiServer.serialization());

        boolean late = mapper instanceof ObjectMapper ofJackson2
                && ofJackson2.getDeserializationContext().getFactory() instanceof LazyModelDeserializers;

        assertThat(late).isEqualTo(field.getType().equals(ObjectMapper.class));
    }

    private <T extends HasMetadata> CompletableFuture<T> get(ObjectKind<T> kind) {
        ObjectKey key = ObjectKey.of(kind.namespaced() ? "text" : "", "text");
        return server.getter(kind).get(key, ReadSource.QUORUM, TIMEOUT).thenApply(fetched -> fetched.object());
    }

    private <T> T read(String json, Class<T> model) {
        return expected.unmarshal(new ByteArrayInputStream(json.getBytes(UTF_8)), model);
    }

    /** Returns an object of this kind with every field, but without managedFields, which are dropped. */
    private static String full(ObjectKind<?> kind) {
        ObjectNode object = FullModels.of(kind.model());
        ObjectNode metadata = (ObjectNode) object.get("metadata");
        metadata.remove("managedFields");
        if (!kind.namespaced()) {
            metadata.remove("namespace");
        }
        return object.put("kind", kind.name())
                .put("apiVersion", kind.apiVersion())
                .toString();
    }
}
