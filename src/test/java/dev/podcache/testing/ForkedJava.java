package dev.podcache.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A JVM of a test's own, which lives for seconds: with the classes of the tests, and what makes it start soon. */
public final class ForkedJava {

    private static final String CLASS_PATH =
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

    private ForkedJava() {}

    /**
     * Returns what starts it.
     *
     * @param options of the JVM
     */
    public static ProcessBuilder program(List<String> options, Class<?> main, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                // as pom.xml has them for the JVM of the tests, with the reasons
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-BytecodeVerificationRemote",
                "-Dkeystore.pkcs12.keyPbeIterationCount=1",
                "-cp",
                CLASS_PATH));
        command.addAll(options);
        command.add(main.getName());
        command.addAll(arguments);
        return new ProcessBuilder(command);
    }
}
