package dev.podcache.apiserver.fabric8;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.introspect.BeanPropertyDefinition;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.KubernetesResource;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequest;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.time.ZonedDateTime;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares with fabric8's own serialization: objects with every field of their class, and what no class knows. */
class LazyModelDeserializersTest {

    private static final JsonMapper MODEL = JsonMapper.builder().build();
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    /** Classes that are no objects in JSON. */
    private static final Map<Class<?>, JsonNode> SCALARS = Map.of(
            String.class, JSON.textNode("text"),
            Integer.class, JSON.numberNode(1),
            Long.class, JSON.numberNode(2L),
            Boolean.class, JSON.booleanNode(true),
            Quantity.class, JSON.textNode("100m"),
            IntOrString.class, JSON.textNode("http"),
            MicroTime.class, JSON.textNode("2026-01-02T03:04:05.000006Z"),
            ZonedDateTime.class, JSON.textNode("2026-01-02T03:04:05.000006Z"));

    private final KubernetesSerialization expected = new KubernetesSerialization(new ObjectMapper(), false);
    private final KubernetesSerialization lazy = new KubernetesSerialization(LazyModelDeserializers.mapper(), false);

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
    void unmarshal_everyField_isReadAsByFabric8(Class<? extends HasMetadata> model) {
        byte[] json =
                full(MODEL.constructType(model), new HashSet<>()).toString().getBytes(UTF_8);

        HasMetadata read = read(lazy, json, model);

        assertThat(read).isEqualTo(read(expected, json, model));
        assertThat(lazy.asJson(read)).contains("fieldOfTheFuture").isEqualTo(expected.asJson(read));
    }

    @Test
    void unmarshal_firstPodsOnManyThreads_areReadAsByFabric8() {
        byte[] json =
                full(MODEL.constructType(Pod.class), new HashSet<>()).toString().getBytes(UTF_8);

        List<Pod> read = IntStream.range(0, 8)
                .parallel()
                .mapToObj(i -> read(lazy, json, Pod.class))
                .toList();

        assertThat(read).containsOnly(read(expected, json, Pod.class));
    }

    @JsonDeserialize(using = JsonDeserializer.None.class)
    private static final class UnwrappedCount implements KubernetesResource {

        @JsonProperty
        private int replicas;
    }

    /** A class of a user, with a field that is part of the object around it. */
    @JsonDeserialize(using = JsonDeserializer.None.class)
    private static final class ClassWithUnwrappedField implements KubernetesResource {

        @JsonUnwrapped
        private UnwrappedCount size = new UnwrappedCount();
    }

    @Test
    void unmarshal_classOfAUserWithAnUnwrappedField_isReadAsByFabric8() {
        byte[] json = "{\"replicas\":3}".getBytes(UTF_8);

        assertThat(read(expected, json, ClassWithUnwrappedField.class).size.replicas)
                .isEqualTo(3);
        assertThat(read(lazy, json, ClassWithUnwrappedField.class).size.replicas)
                .isEqualTo(3);
    }

    private static <T> T read(KubernetesSerialization serialization, byte[] json, Class<T> model) {
        return serialization.unmarshal(new ByteArrayInputStream(json), model);
    }

    /** Returns a JSON value of this type with every field; objects of a class within one of it are left out. */
    private static JsonNode full(JavaType type, Set<Class<?>> above) {
        Class<?> model = type.getRawClass();
        if (SCALARS.containsKey(model)) {
            return SCALARS.get(model);
        }
        if (type.isCollectionLikeType()) {
            return JSON.arrayNode().add(full(type.getContentType(), above));
        }
        if (type.isMapLikeType()) {
            return JSON.objectNode().set("key", full(type.getContentType(), above));
        }
        ObjectNode object = JSON.objectNode();
        if (!KubernetesResource.class.isAssignableFrom(model) || !above.add(model)) {
            return object;
        }
        for (BeanPropertyDefinition field :
                MODEL.getSerializationConfig().introspect(type).findProperties()) {
            object.set(field.getName(), full(field.getPrimaryType(), above));
        }
        above.remove(model);
        return object.put("fieldOfTheFuture", 7);
    }
}
