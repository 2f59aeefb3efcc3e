package dev.podcache.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Which jar a class is in, as {@code pom.xml} packs them. A jar may need the library, and no other. */
final class Jars {

    private static final Pattern PACKED =
            Pattern.compile("<(?:include|exclude)>(dev/podcache/[^<]*)</(?:include|exclude)>");
    private static final String LIBRARY = "podcache";
    private static final String PROGRAM = "cli";

    /** The jars with a classifier, but for that of the program, which has everything. */
    private static final List<String> CLASSIFIERS = List.of("node", "testkit");

    private static final Map<String, List<PathMatcher>> FILES = CLASSIFIERS.stream()
            .collect(Collectors.toMap(
                    classifier -> classifier,
                    classifier -> packed(classifier + "-jar").stream()
                            .map(files -> FileSystems.getDefault().getPathMatcher("glob:" + files))
                            .toList()));

    private Jars() {}

    static ArchCondition<JavaClass> needOnlyTheLibrary() {
        return new ArchCondition<>("need only classes of their own jar and of the library") {
            @Override
            public void check(JavaClass origin, ConditionEvents events) {
                String jar = jar(origin);
                for (Dependency dependency : origin.getDirectDependenciesFromSelf()) {
                    JavaClass target = dependency.getTargetClass().getBaseComponentType();
                    if (!jar.equals(PROGRAM)
                            && target.getName().startsWith("dev.podcache.")
                            && !List.of(jar, LIBRARY).contains(jar(target))) {
                        events.add(SimpleConditionEvent.violated(
                                origin,
                                "jar " + jar + " needs jar " + jar(target) + ": " + dependency.getDescription()));
                    }
                }
            }
        };
    }

    private static String jar(JavaClass ours) {
        Path file = Path.of(ours.getName().replace('.', '/') + ".class");
        if (file.startsWith("dev/podcache/cli")) {
            return PROGRAM;
        }
        return FILES.entrySet().stream()
                .filter(jar -> jar.getValue().stream().anyMatch(files -> files.matches(file)))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(LIBRARY);
    }

    /** Checks that the library's jar leaves out what the others have, and nothing else. */
    static void requireEachClassInOneJar() {
        List<String> others = new ArrayList<>(List.of("dev/podcache/cli/**"));
        CLASSIFIERS.forEach(classifier -> others.addAll(packed(classifier + "-jar")));

        assertThat(packed("default-jar")).containsExactlyInAnyOrderElementsOf(others);
    }

    /** The files that an execution of the jar plugin includes or excludes. */
    private static List<String> packed(String execution) {
        Matcher matcher = Pattern.compile("<id>" + execution + "</id>(.*?)</execution>", Pattern.DOTALL)
                .matcher(pom());
        assertThat(matcher.find()).as(execution).isTrue();
        List<String> files = PACKED.matcher(matcher.group(1))
                .results()
                .map(result -> result.group(1))
                .toList();
        assertThat(files).as(execution).isNotEmpty();
        return files;
    }

    private static String pom() {
        try {
            return Files.readString(Path.of("pom.xml"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
