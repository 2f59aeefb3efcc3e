package dev.podcache.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** A simple name has one meaning: no two classes of this repository share it, nested and test classes included. */
class NamesTest {

    private static final List<String> SOURCES = List.of("src/main/java", "src/test/java", "src/jmh/java");

    @Test
    void simpleName_ofAnyClass_isDeclaredOnce() throws IOException {
        Map<String, List<String>> declarations = declarations();

        assertThat(declarations).containsKeys("NamesTest", "Podcache");
        assertThat(declarations.values()).filteredOn(files -> files.size() > 1).isEmpty();
    }

    /** Returns the declarations of each simple name, as {@code name in file}. */
    private static Map<String, List<String>> declarations() throws IOException {
        Map<String, List<String>> declarations = new TreeMap<>();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            JavacTask task = (JavacTask)
                    compiler.getTask(null, files, null, null, null, files.getJavaFileObjectsFromPaths(sources()));
            for (CompilationUnitTree unit : task.parse()) {
                String file = unit.getSourceFile().getName();
                names(unit)
                        .forEach(name -> declarations
                                .computeIfAbsent(name, key -> new ArrayList<>())
                                .add(name + " in " + file));
            }
        }
        return declarations;
    }

    private static List<Path> sources() {
        return SOURCES.stream().map(Path::of).flatMap(NamesTest::javaFiles).toList();
    }

    private static Stream<Path> javaFiles(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the names of all classes of a file, except anonymous ones and nested builders. */
    private static List<String> names(CompilationUnitTree unit) {
        List<String> names = new ArrayList<>();
        new TreeScanner<Void, Boolean>() {
            @Override
            public Void visitClass(ClassTree type, Boolean nested) {
                String name = type.getSimpleName().toString();
                if (!name.isEmpty() && !(nested && name.equals("Builder"))) {
                    names.add(name);
                }
                return super.visitClass(type, true);
            }
        }.scan(unit, false);
        return names;
    }
}
