package dev.podcache.chaos;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** The classes of a mutant, beside those of the build: copies of sources are changed and compiled, nothing else. */
final class MutantBuild {

    private static final Path SOURCES = Path.of("src/main/java/dev/podcache");

    private final Path folder;
    private final String classPath;

    /** In that folder, which is emptied; compiled against {@code classPath}. */
    MutantBuild(Path folder, String classPath) throws IOException {
        this.folder = folder;
        this.classPath = classPath;
        if (Files.exists(folder)) {
            try (Stream<Path> old = Files.walk(folder)) {
                for (Path file : old.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    /**
     * Compiles the files that the mutant changes.
     *
     * @return the class path of the mutant
     * @throws IllegalStateException if a change does not apply, or the compiler refuses it
     */
    String compile(Mutant mutant) throws IOException {
        List<Path> files = new ArrayList<>();
        for (Map.Entry<String, String> file : changed(mutant).entrySet()) {
            Path path = folder.resolve("sources").resolve(file.getKey());
            Files.createDirectories(path.getParent());
            files.add(Files.writeString(path, file.getValue()));
        }
        Path classes = Files.createDirectories(folder.resolve("classes"));
        compile(files, classes);
        return classes + File.pathSeparator + classPath;
    }

    /**
     * The files that the mutant changes, by their path below {@link #SOURCES}, and their texts with the changes.
     *
     * @throws IllegalStateException if a change does not apply
     */
    static Map<String, String> changed(Mutant mutant) throws IOException {
        Map<String, String> changed = new LinkedHashMap<>();
        for (Mutant.SourceEdit edit : mutant.edits()) {
            String text = changed.get(edit.file());
            changed.put(
                    edit.file(), edit.applyTo(text == null ? Files.readString(SOURCES.resolve(edit.file())) : text));
        }
        return changed;
    }

    private void compile(List<Path> files, Path classes) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter complaints = new StringWriter();
        List<String> options = List.of("-d", classes.toString(), "-cp", classPath, "-proc:none", "-nowarn");
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            boolean compiled = compiler.getTask(
                            complaints, manager, null, options, null, manager.getJavaFileObjectsFromPaths(files))
                    .call();
            if (!compiled) {
                throw new IllegalStateException("the mutant does not compile: " + complaints);
            }
        }
    }

    /** Where else something of the mutant may be put. */
    Path file(String name) {
        return folder.resolve(name);
    }
}
