package dev.podcache.architecture;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.List;

/** Who may import whom: a package only packages on lines below its own. */
final class Layers {

    private static final String ROOT = "dev.podcache";

    /** From the bottom to the top; "" is the front door. */
    static final List<List<String>> LINES = List.of(
            List.of("object", "time", "yaml"),
            List.of("apiserver", "pod", "metrics", "patch"),
            List.of("apiserver.credentials"),
            List.of("apiserver.http"),
            List.of("reflector", "apiserver.fabric8"),
            List.of("store"),
            List.of("manager", "node"),
            List.of("kubelet.events", "kubelet.host", "kubelet.runtime", "testkit"),
            List.of("controlplane.cluster", "kubelet.podconfig", "kubelet.eviction", "kubelet.certificate"),
            List.of(
                    "",
                    "controlplane.leaderelection",
                    "controlplane.nodelifecycle",
                    "controlplane.ttl",
                    "embedded",
                    "kubelet.nodestatus",
                    "kubelet.nodelease",
                    "kubelet.podstatus",
                    "kubelet.probe",
                    "kubelet.process",
                    "kubelet.server",
                    "kubelet.staticpods"),
            List.of("access", "kubelet.podsync"),
            List.of("kubelet.agent", "josdk", "controlplane.planner"),
            List.of("cli.output", "micrometer"),
            List.of("cli.config"),
            List.of("cli.access", "cli.controllers", "cli.hollow", "cli.observe", "cli.plan"),
            List.of("cli.demo", "cli.doctor"),
            List.of("cli"));

    private Layers() {}

    static ArchCondition<JavaClass> importOnlyBelow() {
        return new ArchCondition<>("import only packages on lines below their own") {
            @Override
            public void check(JavaClass origin, ConditionEvents events) {
                if (line(origin) < 0) {
                    events.add(SimpleConditionEvent.violated(
                            origin, origin.getPackageName() + " has no line yet: give it one in Layers"));
                }
                for (Dependency dependency : origin.getDirectDependenciesFromSelf()) {
                    if (isForbidden(dependency)) {
                        events.add(SimpleConditionEvent.violated(origin, dependency.getDescription()));
                    }
                }
            }
        };
    }

    private static boolean isForbidden(Dependency dependency) {
        JavaClass origin = dependency.getOriginClass();
        JavaClass target = dependency.getTargetClass().getBaseComponentType();
        boolean ours =
                target.getPackageName().equals(ROOT) || target.getPackageName().startsWith(ROOT + ".");
        return ours && !target.getPackage().equals(origin.getPackage()) && line(target) >= line(origin);
    }

    /** The line of a class of ours, or -1 if its package has none. */
    private static int line(JavaClass ours) {
        String name = ours.getPackageName();
        String room = name.equals(ROOT) ? "" : name.substring(ROOT.length() + 1);
        for (int line = 0; line < LINES.size(); line++) {
            if (LINES.get(line).contains(room)) {
                return line;
            }
        }
        return -1;
    }
}
