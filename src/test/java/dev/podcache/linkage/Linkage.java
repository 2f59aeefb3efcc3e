package dev.podcache.linkage;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Resolves every class, method and field that compiled classes refer to, as the JVM would at the first use, and looks for
 * methods of interfaces and abstract classes that they lack. A class path on which nothing is missing may still behave in
 * another way, but it cannot end in a {@code NoSuchMethodError}.
 *
 * <p>As a program: {@code java ... dev.podcache.linkage.Linkage <jar or folder> <class path>} prints what is missing, and the
 * number of classes and references; its exit code is 1 if anything is.
 */
public final class Linkage {

    /** Dependencies that users of the library may lack: what refers to them is not used then. */
    static final List<String> OPTIONAL =
            List.of("ch/qos/logback/", "io/javaoperatorsdk/", "io/micrometer/", "io/prometheus/", "oshi/", "picocli/");

    private static final int MAJOR_VERSION = 6; // its place in a class file
    private static final int TAG_CLASS = 7;
    private static final int TAG_FIELD = 9;
    private static final int TAG_METHOD = 10;
    private static final int TAG_INTERFACE_METHOD = 11;
    private static final int TAG_NAME_AND_TYPE = 12;
    private static final int TAG_METHOD_TYPE = 16;

    private final List<Path> roots = new ArrayList<>();
    private final Predicate<String> optional;
    private final Map<String, Optional<ClassShape>> shapes =
            new HashMap<>(); // by internal name; empty if there is no class
    private int classes;
    private int references;

    /**
     * What is missing.
     *
     * @param user the class that refers to it
     * @param what the class, method or field, with its descriptor
     */
    record Missing(String user, String what) implements Comparable<Missing> {

        @Override
        public int compareTo(Missing other) {
            int byUser = user.compareTo(other.user);
            return byUser != 0 ? byUser : what.compareTo(other.what);
        }

        @Override
        public String toString() {
            return user.replace('/', '.') + ": " + what;
        }
    }

    /** What one run found. */
    record LinkageResult(int classes, int references, Set<Missing> missing) {}

    /** The members of a class, by name and descriptor. */
    private record ClassShape(
            String name, int access, @Nullable String parent, List<String> interfaces, Map<String, Integer> members) {

        boolean isInterface() {
            return (access & Opcodes.ACC_INTERFACE) != 0;
        }

        boolean isAbstract() {
            return (access & Opcodes.ACC_ABSTRACT) != 0;
        }
    }

    private Linkage(Predicate<String> optional) {
        this.optional = optional;
    }

    /** Prints what the classes in the first argument miss on the class path in the second. */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 2) {
            System.err.println("usage: Linkage <jar or folder with classes> <class path>");
            System.exit(2);
        }
        List<Path> classPath = Stream.of(arguments[1].split(java.io.File.pathSeparator))
                .filter(entry -> !entry.isEmpty())
                .map(Path::of)
                .toList();
        System.exit(report(check(Path.of(arguments[0]), classPath), System.out) ? 0 : 1);
    }

    private static boolean report(LinkageResult result, PrintStream out) {
        result.missing().forEach(out::println);
        out.println(result.classes() + " classes, " + result.references() + " references: "
                + (result.missing().isEmpty()
                        ? "all"
                        : "all but " + result.missing().size()) + " resolve");
        return result.missing().isEmpty();
    }

    /**
     * Checks classes. Those of {@link #OPTIONAL} dependencies that are absent count as there.
     *
     * @param checked a jar or a folder
     * @param classPath jars and folders; the JDK is that of this JVM
     */
    static LinkageResult check(Path checked, List<Path> classPath) throws IOException {
        Linkage linkage = new Linkage(name -> OPTIONAL.stream().anyMatch(name::startsWith));
        List<FileSystem> opened = new ArrayList<>();
        try {
            Path own = linkage.open(checked, opened);
            for (Path entry : classPath) {
                if (Files.exists(entry)) {
                    linkage.open(entry, opened);
                }
            }
            Set<Missing> missing = new TreeSet<>();
            for (Path file : classFiles(own)) {
                linkage.check(new ClassReader(Files.readAllBytes(file)), missing);
            }
            return new LinkageResult(linkage.classes, linkage.references, missing);
        } finally {
            for (FileSystem each : opened) {
                each.close();
            }
        }
    }

    private Path open(Path entry, List<FileSystem> opened) throws IOException {
        Path root = entry;
        if (!Files.isDirectory(entry)) {
            FileSystem jar = FileSystems.newFileSystem(entry);
            opened.add(jar);
            root = jar.getPath("/");
        }
        roots.add(root);
        return root;
    }

    private static List<Path> classFiles(Path root) throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            return all.filter(file -> file.toString().endsWith(".class")
                            && !file.toString().contains("META-INF")
                            && !file.toString().endsWith("module-info.class"))
                    .sorted()
                    .toList();
        }
    }

    private void check(ClassReader reader, Set<Missing> missing) {
        classes++;
        String user = reader.getClassName();
        char[] buffer = new char[reader.getMaxStringLength()];
        Set<String> named = new LinkedHashSet<>();
        for (int item = 1; item < reader.getItemCount(); item++) {
            int offset = reader.getItem(item);
            if (offset == 0) {
                continue; // the second half of a long or double
            }
            switch (reader.readByte(offset - 1)) {
                case TAG_CLASS -> addTypes(Type.getObjectType(reader.readUTF8(offset, buffer)), named);
                case TAG_FIELD -> member(reader, offset, buffer, TAG_FIELD, missing);
                case TAG_METHOD -> member(reader, offset, buffer, TAG_METHOD, missing);
                case TAG_INTERFACE_METHOD -> member(reader, offset, buffer, TAG_INTERFACE_METHOD, missing);
                case TAG_NAME_AND_TYPE -> addTypes(Type.getType(reader.readUTF8(offset + 2, buffer)), named);
                case TAG_METHOD_TYPE -> addTypes(Type.getMethodType(reader.readUTF8(offset, buffer)), named);
                default -> {
                    // no reference
                }
            }
        }
        ClassShape own = shapeOf(reader);
        own.members()
                .keySet()
                .forEach(member -> addTypes(Type.getType(member.substring(member.indexOf(' ') + 1)), named));
        for (String name : named) {
            references++;
            if (!isThere(name)) {
                missing.add(new Missing(user, "class " + name));
            }
        }
        checkInheritance(own, missing);
    }

    private static void addTypes(Type type, Set<String> named) {
        switch (type.getSort()) {
            case Type.METHOD -> {
                addTypes(type.getReturnType(), named);
                for (Type argument : type.getArgumentTypes()) {
                    addTypes(argument, named);
                }
            }
            case Type.ARRAY -> addTypes(type.getElementType(), named);
            case Type.OBJECT -> named.add(type.getInternalName());
            default -> {
                // a primitive type
            }
        }
    }

    /** @param offset of an item of the constant pool that refers to a member */
    private void member(ClassReader reader, int offset, char[] buffer, int tag, Set<Missing> missing) {
        references++;
        String owner = reader.readClass(offset, buffer);
        int nameAndType = reader.getItem(reader.readUnsignedShort(offset + 2));
        String name = reader.readUTF8(nameAndType, buffer);
        String descriptor = reader.readUTF8(nameAndType + 2, buffer);
        String declaring = owner.startsWith("[") ? "java/lang/Object" : owner;
        Optional<ClassShape> shape = shape(declaring);
        if (shape.isEmpty() || (owner.startsWith("[") && name.equals("clone"))) {
            return; // reported as a class
        }
        String what = owner + "." + name + (tag == TAG_FIELD ? " " : "") + descriptor;
        if (tag != TAG_FIELD && shape.get().isInterface() != (tag == TAG_INTERFACE_METHOD)) {
            missing.add(new Missing(
                    reader.getClassName(),
                    what + ": " + owner + " is " + (shape.get().isInterface() ? "an interface" : "a class")));
            return;
        }
        FoundMember found = find(shape.get(), name + " " + descriptor);
        boolean polymorphic =
                declaring.equals("java/lang/invoke/MethodHandle") || declaring.equals("java/lang/invoke/VarHandle");
        if (found == null) {
            // below a class that is optional and absent, it may be inherited
            if (!polymorphic && !hasAbsentAncestor(shape.get())) {
                missing.add(new Missing(reader.getClassName(), (tag == TAG_FIELD ? "field " : "method ") + what));
            }
        } else if (!isAccessible(found, reader.getClassName())) {
            missing.add(new Missing(reader.getClassName(), what + ": not accessible"));
        }
    }

    /** A member and the class that declares it. */
    private record FoundMember(ClassShape owner, int access) {}

    private @Nullable FoundMember find(ClassShape from, String member) {
        for (ClassShape each : ancestors(from)) {
            Integer access = each.members().get(member);
            if (access != null) {
                return new FoundMember(each, access);
            }
        }
        return null;
    }

    /** Returns the class, then its superclasses, then all their interfaces; those only that are there. */
    private List<ClassShape> ancestors(ClassShape from) {
        List<ClassShape> found = new ArrayList<>();
        for (@Nullable ClassShape each = from; each != null; each = parent(each)) {
            found.add(each);
        }
        Set<String> seen = new HashSet<>();
        Deque<String> interfaces = new ArrayDeque<>();
        found.forEach(each -> interfaces.addAll(each.interfaces()));
        while (!interfaces.isEmpty()) {
            String name = interfaces.remove();
            if (seen.add(name)) {
                shape(name).ifPresent(each -> {
                    found.add(each);
                    interfaces.addAll(each.interfaces());
                });
            }
        }
        if (from.isInterface()) {
            // an interface has the public methods of Object
            shape("java/lang/Object").ifPresent(found::add);
        }
        return found;
    }

    private @Nullable ClassShape parent(ClassShape of) {
        return of.parent() == null ? null : shape(of.parent()).orElse(null);
    }

    private boolean hasAbsentAncestor(ClassShape shape) {
        return ancestors(shape).stream()
                .flatMap(each -> Stream.concat(Stream.ofNullable(each.parent()), each.interfaces().stream()))
                .anyMatch(name -> shape(name).isEmpty());
    }

    private boolean isAccessible(FoundMember found, String user) {
        int access = found.access();
        String owner = found.owner().name();
        if ((access & Opcodes.ACC_PUBLIC) != 0) {
            return true;
        }
        if ((access & Opcodes.ACC_PRIVATE) != 0) {
            return outermost(owner).equals(outermost(user));
        }
        return packageOf(owner).equals(packageOf(user))
                || ((access & Opcodes.ACC_PROTECTED) != 0
                        && shape(user).stream()
                                .flatMap(shape -> ancestors(shape).stream())
                                .anyMatch(each -> each.name().equals(owner)))
                // an array's clone, which is protected in Object
                || owner.equals("java/lang/Object");
    }

    private static String packageOf(String name) {
        return name.substring(0, name.lastIndexOf('/') + 1);
    }

    private static String outermost(String name) {
        int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }

    /** A class must not extend what is final, and must have every method that its ancestors leave abstract. */
    private void checkInheritance(ClassShape own, Set<Missing> missing) {
        ClassShape parent = parent(own);
        if (parent != null && (parent.access() & Opcodes.ACC_FINAL) != 0) {
            missing.add(new Missing(own.name(), "extends " + parent.name() + ", which is final"));
        }
        if (own.isAbstract()) {
            return;
        }
        List<ClassShape> ancestors = ancestors(own);
        for (ClassShape ancestor : ancestors) {
            ancestor.members().forEach((member, access) -> {
                boolean isMethod = member.contains("(");
                if (isMethod && (access & Opcodes.ACC_ABSTRACT) != 0 && !isImplemented(ancestors, member)) {
                    missing.add(new Missing(own.name(), "does not implement " + ancestor.name() + "." + member));
                }
                if (isMethod
                        && (access & Opcodes.ACC_FINAL) != 0
                        && (access & (Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC)) == 0
                        && !ancestor.equals(own)
                        && own.members().containsKey(member)
                        && (access & (Opcodes.ACC_PUBLIC | Opcodes.ACC_PROTECTED)) != 0) {
                    missing.add(new Missing(
                            own.name(), "overrides " + ancestor.name() + "." + member + ", which is final"));
                }
            });
        }
    }

    private static boolean isImplemented(List<ClassShape> ancestors, String method) {
        return ancestors.stream()
                .map(each -> each.members().get(method))
                .anyMatch(access -> access != null && (access & Opcodes.ACC_ABSTRACT) == 0);
    }

    private boolean isThere(String name) {
        return shape(name).isPresent() || optional.test(name);
    }

    private Optional<ClassShape> shape(String name) {
        Optional<ClassShape> known = shapes.get(name);
        if (known == null) {
            known = read(name).map(Linkage::shapeOf);
            shapes.put(name, known);
        }
        return known;
    }

    private Optional<ClassReader> read(String name) {
        String file = name + ".class";
        try {
            // of the JDK only, and never of the class path of this program
            try (InputStream in = ClassLoader.getPlatformClassLoader().getResourceAsStream(file)) {
                if (in != null) {
                    return Optional.of(new ClassReader(asOldAsNeeded(in.readAllBytes())));
                }
            }
            for (Path root : roots) {
                Path found = root.resolve(file);
                if (Files.exists(found)) {
                    return Optional.of(new ClassReader(Files.readAllBytes(found)));
                }
            }
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the class " + name, e);
        }
    }

    /**
     * Returns a class of the JDK as if it were of Java 17. ASM refuses those of a JDK that is newer than itself. What is read here,
     * names, access and descriptors, is written as ever in them.
     */
    private static byte[] asOldAsNeeded(byte[] file) {
        file[MAJOR_VERSION] = 0;
        file[MAJOR_VERSION + 1] = Opcodes.V17;
        return file;
    }

    private static ClassShape shapeOf(ClassReader reader) {
        Map<String, Integer> members = new HashMap<>();
        reader.accept(
                new ClassVisitor(Opcodes.ASM9) {
                    @Override
                    public @Nullable FieldVisitor visitField(
                            int access,
                            String name,
                            String descriptor,
                            @Nullable String signature,
                            @Nullable Object value) {
                        members.put(name + " " + descriptor, access);
                        return null;
                    }

                    @Override
                    public @Nullable MethodVisitor visitMethod(
                            int access,
                            String name,
                            String descriptor,
                            @Nullable String signature,
                            String @Nullable [] exceptions) {
                        members.put(name + " " + descriptor, access);
                        return null;
                    }
                },
                ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        return new ClassShape(
                reader.getClassName(),
                reader.getAccess(),
                reader.getSuperName(),
                List.of(reader.getInterfaces()),
                members);
    }
}
