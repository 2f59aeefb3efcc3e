package dev.podcache.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.domain.properties.CanBeAnnotated;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import dev.podcache.object.NotApi;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** What users can depend on. CONTRIBUTING.md says it to them, and {@code pom.xml} to Javadoc and japicmp. */
final class PublicApi {

    /** Packages whose public types are API. */
    static final List<String> PACKAGES = List.of(
            "dev.podcache",
            "dev.podcache.access",
            "dev.podcache.embedded",
            "dev.podcache.josdk",
            "dev.podcache.kubelet.agent",
            "dev.podcache.kubelet.runtime",
            "dev.podcache.manager",
            "dev.podcache.metrics",
            "dev.podcache.micrometer",
            "dev.podcache.object",
            "dev.podcache.testkit");

    /** Types of other packages that are API: what their methods name, and what embedders of a node name. */
    static final List<String> TYPES = List.of(
            "dev.podcache.apiserver.fabric8.Fabric8ApiServer",
            "dev.podcache.apiserver.fabric8.RequestLimit",
            "dev.podcache.kubelet.certificate.CertificateRotation",
            "dev.podcache.kubelet.certificate.NodeCertificate",
            "dev.podcache.kubelet.eviction.EvictionOptions",
            "dev.podcache.kubelet.eviction.EvictionThresholds",
            "dev.podcache.kubelet.eviction.PodRejection",
            "dev.podcache.kubelet.host.HostFacts",
            "dev.podcache.kubelet.nodestatus.NodeImage",
            "dev.podcache.kubelet.nodestatus.NodeIps",
            "dev.podcache.kubelet.nodestatus.NodeReservations",
            "dev.podcache.kubelet.nodestatus.NodeStatusState",
            "dev.podcache.kubelet.podconfig.VolumeDirectory",
            "dev.podcache.kubelet.podsync.PodAdmission",
            "dev.podcache.kubelet.podsync.PodListener",
            "dev.podcache.kubelet.server.KubeletServerBuilder",
            "dev.podcache.kubelet.server.NodeView",
            "dev.podcache.kubelet.server.PageServer",
            "dev.podcache.kubelet.staticpods.StaticPodFiles",
            "dev.podcache.time.Timekeeper");

    /** What a signature of the API may name besides the API. */
    private static final List<String> OTHERS = List.of(
            "java.",
            "javax.",
            "io.fabric8.kubernetes.api.model.",
            "io.fabric8.kubernetes.client.",
            "org.slf4j.",
            "io.micrometer.");

    /** The embedded API server speaks JSON, which fabric8's models bring. */
    private static final String JSON = "com.fasterxml.jackson.databind.";

    /** What the adapter adapts to. */
    private static final String JOSDK = "io.javaoperatorsdk.";

    private PublicApi() {}

    /** Returns whether users can depend on a type. */
    static boolean contains(JavaClass type) {
        boolean named = PACKAGES.contains(type.getPackageName())
                || TYPES.contains(outermost(type).getName());
        return named && isPublic(type) && !isNotApi(outermost(type)) && !isNotApi(type);
    }

    private static boolean isPublic(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass().map(PublicApi::isPublic).orElse(true);
    }

    private static JavaClass outermost(JavaClass type) {
        Optional<JavaClass> enclosing = type.getEnclosingClass();
        return enclosing.map(PublicApi::outermost).orElse(type);
    }

    private static boolean isNotApi(CanBeAnnotated element) {
        return element.isAnnotatedWith(NotApi.class);
    }

    static ArchCondition<JavaClass> nameOnlyTheApi() {
        return new ArchCondition<>("name only types of the API in their public signatures") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                Stream<JavaType> above = Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream());
                above.forEach(named -> require(type, type.getName(), named, events));
                type.getTypeParameters().forEach(parameter -> require(type, type.getName(), parameter, events));
                type.getMembers().stream().filter(PublicApi::isSeen).forEach(member -> requireMember(member, events));
            }
        };
    }

    private static boolean isSeen(JavaMember member) {
        boolean seen = member.getModifiers().contains(JavaModifier.PUBLIC)
                || member.getModifiers().contains(JavaModifier.PROTECTED);
        return seen && !member.getModifiers().contains(JavaModifier.SYNTHETIC) && !isNotApi(member);
    }

    private static void requireMember(JavaMember member, ConditionEvents events) {
        JavaClass type = member.getOwner();
        if (member instanceof JavaCodeUnit code) {
            require(type, code.getFullName(), code.getReturnType(), events);
            code.getParameterTypes().forEach(named -> require(type, code.getFullName(), named, events));
            code.getTypeParameters().forEach(named -> require(type, code.getFullName(), named, events));
            code.getExceptionTypes().forEach(named -> require(type, code.getFullName(), named, events));
        } else {
            member.getAllInvolvedRawTypes().forEach(named -> require(type, member.getFullName(), named, events));
        }
    }

    private static void require(JavaClass type, String where, JavaType named, ConditionEvents events) {
        for (JavaClass raw : named.getAllInvolvedRawTypes()) {
            JavaClass base = raw.getBaseComponentType();
            if (!base.isPrimitive() && !contains(base) && !isOfOthers(type, base)) {
                events.add(SimpleConditionEvent.violated(type, where + " names " + base.getName()));
            }
        }
    }

    private static boolean isOfOthers(JavaClass type, JavaClass named) {
        String name = named.getName();
        return OTHERS.stream().anyMatch(name::startsWith)
                || (type.getPackageName().equals("dev.podcache.embedded") && name.startsWith(JSON))
                || (type.getPackageName().equals("dev.podcache.josdk") && name.startsWith(JOSDK));
    }
}
