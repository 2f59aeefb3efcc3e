package dev.podcache.linkage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** Each case compiles a class against a library that was another one then. */
class LinkageTest {

    private static final String OBJECT = "java/lang/Object";

    @TempDir
    private Path folder;

    private Path checked;
    private Path library;

    @BeforeEach
    void makeLibrary() throws IOException {
        checked = Files.createDirectories(folder.resolve("checked"));
        library = Files.createDirectories(folder.resolve("library"));
        write(library, "lib/Parent", OBJECT, Opcodes.ACC_PUBLIC, parent -> {
            method(parent, Opcodes.ACC_PUBLIC, "inherited", "()I");
            method(parent, Opcodes.ACC_PUBLIC | Opcodes.ACC_FINAL, "last", "()V");
            method(parent, Opcodes.ACC_PROTECTED, "forChildren", "()V");
            method(parent, 0, "forNeighbours", "()V");
            parent.visitField(Opcodes.ACC_PUBLIC, "count", "I", null, null).visitEnd();
        });
        write(library, "lib/Thing", "lib/Parent", Opcodes.ACC_PUBLIC, thing -> {});
        write(library, "lib/Port", OBJECT, Opcodes.ACC_PUBLIC | Opcodes.ACC_ABSTRACT | Opcodes.ACC_INTERFACE, port -> {
            port.visitMethod(Opcodes.ACC_PUBLIC | Opcodes.ACC_ABSTRACT, "run", "()V", null, null)
                    .visitEnd();
        });
        write(library, "lib/Sealed", OBJECT, Opcodes.ACC_PUBLIC | Opcodes.ACC_FINAL, last -> {});
    }

    private interface Calls extends Consumer<MethodVisitor> {}

    private void writeUser(Calls calls) throws IOException {
        write(checked, "user/User", OBJECT, Opcodes.ACC_PUBLIC, user -> {
            MethodVisitor code = user.visitMethod(Opcodes.ACC_PUBLIC, "use", "()V", null, null);
            code.visitCode();
            calls.accept(code);
            code.visitInsn(Opcodes.RETURN);
            code.visitMaxs(9, 9);
            code.visitEnd();
        });
    }

    private static void method(ClassWriter type, int access, String name, String descriptor) {
        MethodVisitor code = type.visitMethod(access, name, descriptor, null, null);
        code.visitCode();
        if (descriptor.endsWith("I")) {
            code.visitInsn(Opcodes.ICONST_0);
        }
        code.visitInsn(descriptor.endsWith("I") ? Opcodes.IRETURN : Opcodes.RETURN);
        code.visitMaxs(9, 9);
        code.visitEnd();
    }

    private static void write(Path root, String name, String parent, int access, Consumer<ClassWriter> members)
            throws IOException {
        write(root, name, parent, access, new String[0], members);
    }

    private static void write(
            Path root, String name, String parent, int access, String[] interfaces, Consumer<ClassWriter> members)
            throws IOException {
        ClassWriter type = new ClassWriter(0);
        type.visit(Opcodes.V17, access, name, null, parent, interfaces);
        members.accept(type);
        type.visitEnd();
        Path file = root.resolve(name + ".class");
        Files.createDirectories(file.getParent());
        Files.write(file, type.toByteArray());
    }

    private List<String> missing() throws IOException {
        return Linkage.check(checked, List.of(library)).missing().stream()
                .map(Linkage.Missing::toString)
                .toList();
    }

    @Test
    void check_whatIsThere_isNotReported() throws IOException {
        writeUser(code -> {
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "lib/Thing", "inherited", "()I", false);
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "lib/Thing", "hashCode", "()I", false);
            code.visitFieldInsn(Opcodes.GETFIELD, "lib/Thing", "count", "I");
            code.visitMethodInsn(Opcodes.INVOKEINTERFACE, "lib/Port", "run", "()V", true);
            code.visitMethodInsn(Opcodes.INVOKEINTERFACE, "lib/Port", "toString", "()Ljava/lang/String;", true);
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "[Llib/Thing;", "clone", "()Ljava/lang/Object;", false);
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "java/lang/invoke/MethodHandle", "invokeExact", "(I)V", false);
            code.visitLdcInsn(Type.getObjectType("[[Llib/Thing;"));
        });

        Linkage.LinkageResult result = Linkage.check(checked, List.of(library));

        assertThat(result.missing()).isEmpty();
        assertThat(result.classes()).isEqualTo(1);
        assertThat(result.references()).isGreaterThan(8);
    }

    @Test
    void check_missingClasses_areReportedWhereverTheyAreNamed() throws IOException {
        writeUser(code -> {
            code.visitTypeInsn(Opcodes.NEW, "lib/Gone");
            code.visitLdcInsn(Type.getObjectType("[Llib/GoneFromArrays;"));
            code.visitLdcInsn(Type.getMethodType("(Llib/GoneFromTypes;)V"));
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "lib/Thing", "inherited", "()I", false);
        });
        write(checked, "user/Fields", OBJECT, Opcodes.ACC_PUBLIC, type -> {
            type.visitField(0, "field", "Llib/GoneFromFields;", null, null).visitEnd();
            method(type, 0, "method", "(Llib/GoneFromMethods;)V");
        });

        assertThat(missing())
                .containsExactly(
                        "user.Fields: class lib/GoneFromFields",
                        "user.Fields: class lib/GoneFromMethods",
                        "user.User: class lib/Gone",
                        "user.User: class lib/GoneFromArrays",
                        "user.User: class lib/GoneFromTypes");
    }

    @Test
    void check_missingMembers_areReportedWithTheirDescriptors() throws IOException {
        writeUser(code -> {
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "lib/Thing", "inherited", "()J", false);
            code.visitMethodInsn(Opcodes.INVOKESPECIAL, "lib/Thing", "<init>", "(I)V", false);
            code.visitMethodInsn(Opcodes.INVOKEINTERFACE, "lib/Port", "stop", "()V", true);
            code.visitFieldInsn(Opcodes.GETFIELD, "lib/Thing", "count", "J");
        });

        assertThat(missing())
                .containsExactly(
                        "user.User: field lib/Thing.count J",
                        "user.User: method lib/Port.stop()V",
                        "user.User: method lib/Thing.<init>(I)V",
                        "user.User: method lib/Thing.inherited()J");
    }

    @Test
    void check_classBecameAnInterface_orTheReverse_isReported() throws IOException {
        writeUser(code -> {
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "lib/Port", "run", "()V", false);
            code.visitMethodInsn(Opcodes.INVOKEINTERFACE, "lib/Thing", "inherited", "()I", true);
        });

        assertThat(missing())
                .containsExactly(
                        "user.User: lib/Port.run()V: lib/Port is an interface",
                        "user.User: lib/Thing.inherited()I: lib/Thing is a class");
    }

    @Test
    void check_membersForOthers_areReported() throws IOException {
        writeUser(code -> {
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "lib/Thing", "forNeighbours", "()V", false);
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "lib/Thing", "forChildren", "()V", false);
        });
        write(checked, "user/Child", "lib/Thing", Opcodes.ACC_PUBLIC, child -> {
            MethodVisitor code = child.visitMethod(Opcodes.ACC_PUBLIC, "use", "()V", null, null);
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "lib/Thing", "forChildren", "()V", false);
        });

        assertThat(missing())
                .containsExactly(
                        "user.User: lib/Thing.forChildren()V: not accessible",
                        "user.User: lib/Thing.forNeighbours()V: not accessible");
    }

    @Test
    void check_whatAnAncestorDemands_isReported() throws IOException {
        String[] port = {"lib/Port"};
        write(checked, "user/Idle", OBJECT, Opcodes.ACC_PUBLIC, port, type -> {});
        write(checked, "user/Running", OBJECT, Opcodes.ACC_PUBLIC, port, type -> {
            method(type, Opcodes.ACC_PUBLIC, "run", "()V");
        });
        write(checked, "user/Open", OBJECT, Opcodes.ACC_PUBLIC | Opcodes.ACC_ABSTRACT, port, type -> {});
        write(checked, "user/Overrides", "lib/Parent", Opcodes.ACC_PUBLIC, type -> {
            method(type, Opcodes.ACC_PUBLIC, "last", "()V");
        });
        write(checked, "user/Extends", "lib/Sealed", Opcodes.ACC_PUBLIC, type -> {});

        assertThat(missing())
                .containsExactly(
                        "user.Extends: extends lib/Sealed, which is final",
                        "user.Idle: does not implement lib/Port.run ()V",
                        "user.Overrides: overrides lib/Parent.last ()V, which is final");
    }

    @Test
    void check_optionalDependency_mayBeAbsent_butNotInParts() throws IOException {
        writeUser(code -> {
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "picocli/CommandLine", "execute", "()V", false);
        });

        assertThat(missing()).isEmpty();

        write(library, "picocli/CommandLine", OBJECT, Opcodes.ACC_PUBLIC, type -> {});

        assertThat(missing()).containsExactly("user.User: method picocli/CommandLine.execute()V");
    }

    /** On the versions that this JVM runs with; {@code .ci/generations} does it with the others. */
    @Test
    void check_allOfTheLibrary_resolves() throws Exception {
        Path classes = Path.of(Podcache.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<Path> classPath = Stream.of(path.split(File.pathSeparator))
                .filter(entry -> !entry.isEmpty())
                .map(Path::of)
                .toList();

        Linkage.LinkageResult result = Linkage.check(classes, classPath);

        assertThat(result.missing()).isEmpty();
        assertThat(result.classes()).isGreaterThan(500);
        assertThat(result.references()).isGreaterThan(10_000);
    }
}
