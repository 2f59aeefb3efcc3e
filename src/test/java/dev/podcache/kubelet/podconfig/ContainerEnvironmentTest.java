package dev.podcache.kubelet.podconfig;

import static dev.podcache.kubelet.podconfig.PodConfigFixture.NS;
import static dev.podcache.kubelet.podconfig.PodConfigFixture.PLACEMENT;
import static dev.podcache.kubelet.podconfig.PodConfigFixture.configMap;
import static dev.podcache.kubelet.podconfig.PodConfigFixture.secret;
import static dev.podcache.kubelet.podconfig.PodConfigFixture.service;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.kubelet.runtime.ByteText;
import dev.podcache.manager.Manager;
import dev.podcache.manager.Managers;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarSource;
import io.fabric8.kubernetes.api.model.EnvVarSourceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceFieldSelector;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cases that upstream's table does not contain; see {@link MakeEnvironmentVariablesTest} for the table. */
@ExtendWith(NoLeaks.class)
class ContainerEnvironmentTest {

    private final PodConfigFixture f = new PodConfigFixture(service("default", "kubernetes", "10.0.0.1", 443));

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    void of_secretMissingThenCreated_failsAndThenSucceedsWithoutTouchingThePod() {
        Pod pod = f.register(pod(envFromSecret("db", null)));

        PodConfigException failure = failure(pod);
        assertThat(failure).hasMessage("secret \"db\" not found").hasCauseInstanceOf(NotFound.class);
        assertThat(failure.container()).contains("main");
        assertThat(failure.volume()).isEmpty();

        f.server.cluster().create(secret("db", Map.of("PASSWORD", "v1")));
        assertThat(of(pod).variables()).containsEntry("PASSWORD", "v1");
    }

    /** Strategy CACHE: a cached NotFound is an answer like any other. */
    @Test
    void of_secretMissingThenCreatedUnderCache_succeedsOnceTheAnswerIsOld() {
        TtlObjectStore<Secret> store = cachingStore();
        Manager<Secret> secrets = Managers.caching(store, PodReferences::secretKeys);
        ContainerEnvironment environments =
                new ContainerEnvironment(secrets, f.configMaps, f.services, PodConfigFixture.NO_VOLUMES);
        Pod pod = pod(envFromSecret("db", null));
        secrets.registerPod(pod);
        assertThatThrownBy(() -> environments.of(pod, main(pod), PLACEMENT)).hasMessage("secret \"db\" not found");

        f.server.cluster().create(secret("db", Map.of("PASSWORD", "v1")));
        f.timekeeper.advance(Duration.ofMinutes(2));

        assertThat(environments.of(pod, main(pod), PLACEMENT).variables()).containsEntry("PASSWORD", "v1");
        store.close();
    }

    @Test
    void of_configMapMissingThenCreated_failsAndThenSucceeds() {
        Pod pod = f.register(pod(variable(new EnvVarSourceBuilder()
                .withNewConfigMapKeyRef("color", "settings", null)
                .build())));

        assertThat(failure(pod)).hasMessage("configmap \"settings\" not found");

        f.server.cluster().create(configMap("settings", Map.of("color", "blue")));
        assertThat(of(pod).variables()).containsEntry("V", "blue");
    }

    @Test
    void of_configMapKeyMissing_namesKeyAndObject() {
        f.server.cluster().create(configMap("settings", Map.of("other", "x")));
        Pod pod = f.register(pod(variable(new EnvVarSourceBuilder()
                .withNewConfigMapKeyRef("color", "settings", false)
                .build())));

        assertThat(failure(pod))
                .hasMessage("couldn't find key color in ConfigMap test1/settings")
                .hasNoCause();
    }

    @Test
    void of_secretKeyMissing_namesKeyAndObject() {
        f.server.cluster().create(secret("db", Map.of("other", "x")));
        Pod pod = f.register(pod(variable(new EnvVarSourceBuilder()
                .withNewSecretKeyRef("password", "db", null)
                .build())));

        assertThat(failure(pod)).hasMessage("couldn't find key password in Secret test1/db");
    }

    @Test
    void of_secretKeyMissingThenAdded_failsAndThenSucceeds() {
        f.server.cluster().create(secret("db", Map.of("other", "x")));
        Pod pod = f.register(pod(variable(new EnvVarSourceBuilder()
                .withNewSecretKeyRef("password", "db", null)
                .build())));
        failure(pod);

        f.server.cluster().update(secret("db", Map.of("password", "v2")));

        assertThat(of(pod).variables()).containsEntry("V", "v2");
    }

    /** It was missing when the last container started, and was not watched since. */
    @Test
    void of_optionalAndMissingLongAgo_isNotMissingWhileASlowServerIsAsked() {
        Pod pod = f.register(pod(envFromSecret("db", true)));
        assertThat(of(pod).variables()).doesNotContainKey("PASSWORD");
        f.timekeeper.advance(Duration.ofMinutes(20));
        f.server.cluster().create(secret("db", Map.of("PASSWORD", "v1")));
        HeldRequests lists = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));

        assertThat(failure(pod)).hasMessageContaining("checking again failed").hasMessageContaining("not synced");

        lists.release();
        assertThat(of(pod).variables()).containsEntry("PASSWORD", "v1");
    }

    /** Strategy CACHE: each start asks again whether it is still missing, and the answer may take long. */
    @Test
    void of_optionalAndMissingBeforeUnderCache_isNotMissingWhileASlowServerIsAsked() {
        TtlObjectStore<Secret> store = cachingStore();
        Manager<Secret> secrets = Managers.caching(store, PodReferences::secretKeys);
        ContainerEnvironment environments =
                new ContainerEnvironment(secrets, f.configMaps, f.services, PodConfigFixture.NO_VOLUMES);
        Pod pod = pod(envFromSecret("db", true));
        secrets.registerPod(pod);
        assertThat(environments.of(pod, main(pod), PLACEMENT).variables()).doesNotContainKey("PASSWORD");
        f.server.cluster().create(secret("db", Map.of("PASSWORD", "v1")));
        HeldRequests gets = f.server.faults().hold(RequestPattern.any().verb(Verb.GET));

        // the second start does not wait, because the first has waited in vain
        for (int start = 1; start <= 2; start++) {
            assertThatThrownBy(() -> environments.of(pod, main(pod), PLACEMENT))
                    .as("start %s", start)
                    .isInstanceOf(PodConfigException.class)
                    .hasMessageContaining("checking again failed")
                    .hasMessageContaining("the request continues");
        }

        gets.release();
        assertThat(environments.of(pod, main(pod), PLACEMENT).variables()).containsEntry("PASSWORD", "v1");
        store.close();
    }

    /** Strategy CACHE: during an outage, the last answer counts, as for a kubelet. */
    @Test
    void of_optionalAndMissingBeforeUnderCache_isMissingWhileAskingAgainFails() {
        TtlObjectStore<Secret> store = cachingStore();
        Manager<Secret> secrets = Managers.caching(store, PodReferences::secretKeys);
        ContainerEnvironment environments =
                new ContainerEnvironment(secrets, f.configMaps, f.services, PodConfigFixture.NO_VOLUMES);
        Pod pod = pod(envFromSecret("db", true));
        secrets.registerPod(pod);
        assertThat(environments.of(pod, main(pod), PLACEMENT).variables()).doesNotContainKey("PASSWORD");
        f.server.failNext(
                1,
                new ApiServerException(FailureReason.UNAVAILABLE, 503, null, "GET was answered 503", null),
                RequestPattern.any().verb(Verb.GET));

        assertThat(environments.of(pod, main(pod), PLACEMENT).variables()).doesNotContainKey("PASSWORD");
        store.close();
    }

    @Test
    void of_optionalButNotRegistered_fails() {
        f.server.cluster().create(secret("db", Map.of("a", "b")));
        Pod pod = pod(envFromSecret("db", true));

        assertThat(failure(pod))
                .hasMessageContaining("Secret test1/db is not registered")
                .hasCauseInstanceOf(NotRegistered.class);
    }

    @Test
    @ExpectedWarnings("watch of Secret test1/db failed")
    void of_optionalButForbidden_failsAndSaysWhy() {
        f.server.failNext(
                100, new ApiServerException(FailureReason.FORBIDDEN, 403, null, "LIST was answered 403", null));
        Pod pod = f.register(pod(envFromSecret("db", true)));

        assertThat(failure(pod))
                .hasMessage("Secret test1/db not synced within 1000 ms: LIST was answered 403")
                .hasCauseInstanceOf(NotSynced.class);
    }

    @Test
    void of_illegalName_saysSo() {
        Pod pod = f.register(pod(envFromSecret("No_Such/Name", true)));

        assertThat(failure(pod)).hasMessageStartingWith("invalid secret name: ").hasMessageContaining("No_Such/Name");
    }

    /** As Kubernetes does, which knows no text in a Secret. */
    @Test
    void of_secretThatIsNotText_isAVariableOfTheSameBytes() {
        byte[] value = new byte[255];
        for (int i = 0; i < value.length; i++) {
            value[i] = (byte) (255 - i);
        }
        Secret binary = new SecretBuilder(secret("db", Map.of()))
                .addToData("key", Base64.getEncoder().encodeToString(value))
                .build();
        f.server.cluster().create(binary);
        Pod pod = f.register(pod(envFromSecret("db", null)));

        assertThat(ByteText.bytes(Objects.requireNonNull(of(pod).variables().get("key"))))
                .isEqualTo(value);
    }

    @Test
    void of_binaryDataOfAConfigMap_isNoVariable() {
        ConfigMap map = configMap("settings", Map.of("a", "b"));
        map.setBinaryData(Map.of("blob", "AAEC"));
        f.server.cluster().create(map);
        Pod pod = f.register(pod(new ContainerBuilder()
                .addNewEnvFrom()
                .withNewConfigMapRef("settings", null)
                .endEnvFrom()
                .build()));

        assertThat(of(pod).variables()).containsKey("a").doesNotContainKey("blob");
    }

    @Test
    void of_namesThatOnceWereSkipped_areTaken() {
        f.server.cluster().create(configMap("settings", Map.of("1234", "a", "1z", "b", "key", "c")));
        Pod pod = f.register(pod(new ContainerBuilder()
                .addNewEnvFrom()
                .withNewConfigMapRef("settings", null)
                .endEnvFrom()
                .build()));

        assertThat(of(pod).variables()).containsKeys("1234", "1z", "key");
    }

    @Test
    void of_severalSources_keepsTheOrderOfTheirFirstMention() {
        f.server.cluster().create(configMap("settings", Map.of("FROM", "1")));
        Pod pod = f.register(pod(new ContainerBuilder()
                .addNewEnvFrom()
                .withNewConfigMapRef("settings", null)
                .endEnvFrom()
                .addToEnv(new EnvVar("Z", "2", null))
                .addToEnv(new EnvVar("A", "$(Z)$(FROM)", null))
                .addToEnv(new EnvVar("FROM", "3", null))
                .addToEnv(new EnvVar("KUBERNETES_SERVICE_HOST", "mine", null))
                .build()));

        Map<String, String> variables = of(pod).variables();
        assertThat(variables.keySet())
                .startsWith("FROM", "Z", "A", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT");
        assertThat(variables)
                .containsEntry("A", "21")
                .containsEntry("FROM", "3")
                .containsEntry("KUBERNETES_SERVICE_HOST", "mine");
    }

    @Test
    void of_envWithTheNameOfAServiceVariable_meansTheServiceUntilItIsSet() {
        Pod pod = f.register(pod(new ContainerBuilder()
                .addToEnv(new EnvVar("KUBERNETES_SERVICE_HOST", "https://$(KUBERNETES_SERVICE_HOST)", null))
                .addToEnv(new EnvVar("AFTER", "$(KUBERNETES_SERVICE_HOST)", null))
                .build()));

        assertThat(of(pod).variables())
                .containsEntry("KUBERNETES_SERVICE_HOST", "https://10.0.0.1")
                .containsEntry("AFTER", "https://10.0.0.1");
    }

    @Test
    void of_sourceOfNoKnownKind_isRefused() {
        Pod pod = f.register(pod(variable(new EnvVarSource())));

        assertThat(failure(pod)).hasMessageContaining("variable V has an unsupported valueFrom");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            metadata.uid                                   | uid-1
            metadata.labels['app']                         | web
            metadata.annotations['example.com/Team']       | a "b"
            metadata.annotations['absent']                 | ''
            metadata.annotations['Example.com/absent']     | ''
            metadata.annotations                           | example.com/Team="a \\"b\\""
            spec.host                                      | node-name
            """)
    void of_fieldRef_isTheFieldOfThePod(String path, String expected) {
        assertThat(of(pod(fieldRef("v1", path))).variables()).containsEntry("V", expected);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            v1 | metadata.whoops            | unsupported fieldPath: metadata.whoops
            v1 | spec.restartPolicy         | unsupported fieldPath: spec.restartPolicy
            v1 | metadata.name['x']         | fieldPath "metadata.name['x']" does not support subscript
            v1 | metadata.annotations['']   | invalid key subscript in metadata.annotations: ""
            v1 | metadata.labels['/x']      | invalid key subscript in metadata.labels: "/x"
            v1 | metadata.labels['Shop.io/x'] | invalid key subscript in metadata.labels: "Shop.io/x"
            v2 | metadata.name              | unsupported pod version: v2
            """)
    void of_fieldRefThatIsWrong_saysWhy(String version, String path, String message) {
        assertThat(failure(pod(fieldRef(version, path)))).hasMessage(message);
    }

    @Test
    void of_podWithoutAddress_isEmptyForItAndFailsForTheHosts() {
        PodPlacement nowhere = new PodPlacement(ImmutableList.of(), ImmutableList.of(), ImmutableMap.of());
        Pod asksPod = pod(fieldRef("v1", "status.podIP"));
        Pod asksHost = pod(fieldRef("v1", "status.hostIP"));

        assertThat(f.environments().of(asksPod, main(asksPod), nowhere).variables())
                .containsEntry("V", "");
        assertThatThrownBy(() -> f.environments().of(asksHost, main(asksHost), nowhere))
                .hasMessage("host IP unknown; known addresses: []");
    }

    @Test
    void of_resourceFieldRef_isOfTheContainerItself() {
        Container container = new ContainerBuilder(variable(new EnvVarSourceBuilder()
                        .withResourceFieldRef(new ResourceFieldSelector(null, new Quantity("1m"), "requests.cpu"))
                        .build()))
                .withNewResources()
                .addToRequests("cpu", new Quantity("250m"))
                .endResources()
                .build();

        assertThat(of(pod(container)).variables()).containsEntry("V", "250");
    }

    @Test
    void environmentText_hasNamesAndNoValues() {
        f.server.cluster().create(secret("db", Map.of("PASSWORD", NoLeaks.CANARY)));
        Environment environment = of(f.register(pod(envFromSecret("db", null))));

        assertThat(environment.variables()).containsEntry("PASSWORD", NoLeaks.CANARY);
        assertThat(environment.toString()).contains("PASSWORD").doesNotContain(NoLeaks.CANARY);
    }

    @Test
    void of_objectsAndPod_areNotModified(NoLeaks leaks) {
        f.server.cluster().create(secret("db", Map.of("a", "b")));
        Pod pod = f.register(pod(envFromSecret("db", null)));
        leaks.watchForMutation(pod);
        leaks.watchForMutation(f.secrets.getObject(NS, "db"));

        of(pod);
    }

    private Environment of(Pod pod) {
        return f.environments().of(pod, main(pod), PLACEMENT);
    }

    private TtlObjectStore<Secret> cachingStore() {
        return new TtlObjectStore<>(
                ObjectKind.SECRET,
                f.server.getter(ObjectKind.SECRET),
                FixedTtl.ofSeconds(60),
                StoreOptions.defaults(f.timekeeper));
    }

    private PodConfigException failure(Pod pod) {
        return catchThrowableOfType(PodConfigException.class, () -> of(pod));
    }

    private static Container main(Pod pod) {
        return pod.getSpec().getContainers().get(0);
    }

    private static Pod pod(Container container) {
        Container named = new ContainerBuilder(container).withName("main").build();
        return new PodBuilder(PodConfigFixture.pod(NS, named))
                .editMetadata()
                .addToLabels("app", "web")
                .addToAnnotations("example.com/Team", "a \"b\"")
                .endMetadata()
                .build();
    }

    private static Container envFromSecret(String name, @Nullable Boolean optional) {
        return new ContainerBuilder()
                .addNewEnvFrom()
                .withNewSecretRef(name, optional)
                .endEnvFrom()
                .build();
    }

    private static Container fieldRef(String version, String path) {
        return variable(new EnvVarSourceBuilder().withNewFieldRef(version, path).build());
    }

    private static Container variable(EnvVarSource source) {
        return new ContainerBuilder()
                .addNewEnv()
                .withName("V")
                .withValueFrom(source)
                .endEnv()
                .build();
    }
}
