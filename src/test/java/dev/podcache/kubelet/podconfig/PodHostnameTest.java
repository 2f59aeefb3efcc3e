package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** TestGeneratePodHostNameAndDomain, TestTruncatePodHostname and TestGetNodenameForKernel of upstream. */
class PodHostnameTest {

    private static final String DOMAIN = "cluster.local";
    private static final String SEVEN_PARTS = "1234567.".repeat(7);

    private static PodSpecBuilder spec() {
        return new PodSpecBuilder().withNodeName("worker-1");
    }

    private static PodHostname of(String name, PodSpec spec, String clusterDomain) {
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .withNamespace("default")
                .withName(name)
                .endMetadata()
                .withSpec(spec)
                .build();
        return PodHostname.of(pod, clusterDomain, ConfigTarget.container("main"));
    }

    static Stream<Arguments> names() {
        String full = "custom.sub.default.svc.cluster.local";
        return Stream.of(
                Arguments.of("the pod's name", spec(), "test-pod", ""),
                Arguments.of("a hostname", spec().withHostname("custom"), "custom", ""),
                Arguments.of(
                        "hostname and subdomain", spec().withHostname("custom").withSubdomain("sub"), "custom", full),
                Arguments.of(
                        "a subdomain",
                        spec().withSubdomain("sub"),
                        "test-pod",
                        "test-pod.sub.default.svc.cluster.local"),
                Arguments.of(
                        "full name as hostname",
                        spec().withHostname("custom").withSubdomain("sub").withSetHostnameAsFQDN(true),
                        full,
                        full),
                Arguments.of(
                        "full name not as hostname",
                        spec().withHostname("custom").withSubdomain("sub").withSetHostnameAsFQDN(false),
                        "custom",
                        full),
                Arguments.of(
                        "full name as hostname, without a subdomain",
                        spec().withHostname("custom").withSetHostnameAsFQDN(true),
                        "custom",
                        ""),
                Arguments.of("an override", spec().withHostnameOverride("over.ride"), "over.ride", ""),
                Arguments.of(
                        "an override of everything else",
                        spec().withHostnameOverride("over")
                                .withHostname("custom")
                                .withSubdomain("sub")
                                .withSetHostnameAsFQDN(true),
                        "over",
                        ""),
                Arguments.of(
                        "the network of the host",
                        spec().withHostNetwork(true).withHostname("custom").withSubdomain("sub"),
                        "worker-1",
                        ""),
                Arguments.of(
                        "no network of the host", spec().withHostNetwork(false).withHostname("custom"), "custom", ""));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void names(String situation, PodSpecBuilder spec, String hostname, String fqdn) {
        assertThat(of("test-pod", spec.build(), DOMAIN)).isEqualTo(new PodHostname(hostname, fqdn));
    }

    static Stream<Arguments> lengths() {
        return Stream.of(
                Arguments.of("test.pod.hostname", "test.pod.hostname"),
                Arguments.of("a".repeat(63), "a".repeat(63)),
                Arguments.of("a".repeat(64), "a".repeat(63)),
                Arguments.of(SEVEN_PARTS + "1234567.1", SEVEN_PARTS + "1234567"),
                Arguments.of(SEVEN_PARTS + "123456.1234567", SEVEN_PARTS + "123456"),
                Arguments.of(SEVEN_PARTS + "123456-1234567", SEVEN_PARTS + "123456"),
                Arguments.of(SEVEN_PARTS + "12345--1234567", SEVEN_PARTS + "12345"));
    }

    @ParameterizedTest
    @MethodSource("lengths")
    void nameOfPod_thatIsTooLong_isCutWithoutADotOrHyphenAtItsEnd(String name, String expected) {
        assertThat(of(name, spec().build(), DOMAIN).hostname()).isEqualTo(expected);
    }

    @ParameterizedTest
    @MethodSource("lengths")
    void override_thatIsTooLong_isCutLikewise(String name, String expected) {
        assertThat(of("web", spec().withHostnameOverride(name).build(), DOMAIN).hostname())
                .isEqualTo(expected);
    }

    @Test
    void fullNameAsHostname_mayHave64Characters_notMore() {
        String suffix = ".sub.default.svc.cluster.local";
        String fits = "a".repeat(64 - suffix.length());
        PodSpec spec = spec().withSubdomain("sub").withSetHostnameAsFQDN(true).build();

        assertThat(of(fits, spec, DOMAIN).hostname()).isEqualTo(fits + suffix).hasSize(64);
        assertThatThrownBy(() -> of(fits + "a", spec, DOMAIN))
                .isInstanceOf(PodConfigException.class)
                .hasMessage("failed to construct FQDN from pod hostname and cluster domain, FQDN " + fits + "a" + suffix
                        + " is too long (64 characters is the max, 65 characters requested)");
    }

    @Test
    void fullName_thatIsNotTheHostname_mayBeLonger() {
        PodSpec spec = spec().withSubdomain("sub").build();

        assertThat(of("a".repeat(60), spec, DOMAIN))
                .isEqualTo(new PodHostname("a".repeat(60), "a".repeat(60) + ".sub.default.svc.cluster.local"));
    }

    @Test
    void noClusterDomain_noFullName() {
        PodSpec spec = spec().withSubdomain("sub").withSetHostnameAsFQDN(true).build();

        assertThat(of("web", spec, "")).isEqualTo(new PodHostname("web", ""));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            Upper | -     | -     | pod Hostname "Upper" is not a valid DNS label
            a.b   | -     | -     | pod Hostname "a.b" is not a valid DNS label
            -     | a.b   | -     | pod Subdomain "a.b" is not a valid DNS label
            -     | sub_1 | -     | pod Subdomain "sub_1" is not a valid DNS label
            -     | -     | Over  | pod HostnameOverride "Over" is not a valid DNS subdomain
            -     | -     | a..b  | pod HostnameOverride "a..b" is not a valid DNS subdomain
            -     | -     | ''    | pod HostnameOverride "" is not a valid DNS subdomain
            """)
    void nameThatIsNotLegal_isRefused_alsoOnTheNetworkOfTheHost(
            String hostname, String subdomain, String override, String message) {
        for (boolean onHost : new boolean[] {false, true}) {
            PodSpec spec = spec().withHostname(hostname)
                    .withSubdomain(subdomain)
                    .withHostnameOverride(override)
                    .withHostNetwork(onHost)
                    .build();

            assertThatThrownBy(() -> of("web", spec, DOMAIN))
                    .isInstanceOf(PodConfigException.class)
                    .hasMessageStartingWith(message);
        }
    }
}
