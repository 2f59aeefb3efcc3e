package dev.podcache.kubelet.agent;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The executable jar as a process of its own, and what Linux says about a process. */
public final class MeasuredProcess {

    private static final double TICKS_PER_SECOND = 100;
    private static final Pattern TOTAL = Pattern.compile("(?m)^Total +\\d+ +(\\d+)");

    private final Process process;

    private MeasuredProcess(Process process) {
        this.process = process;
    }

    /**
     * Starts the executable jar. Its errors go to the standard error of this process.
     *
     * @param flags of the JVM
     * @param arguments of the program
     * @param output where its standard output goes
     */
    public static MeasuredProcess start(List<String> flags, List<String> arguments, ProcessBuilder.Redirect output)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(ofJdk("java"));
        command.addAll(flags);
        command.addAll(List.of("-jar", jar().toString()));
        command.addAll(arguments);
        return new MeasuredProcess(new ProcessBuilder(command)
                .redirectOutput(output)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /**
     * Makes a class-data archive of the executable jar.
     *
     * @param flags of the JVM that will use it
     * @param classes a list of class names, as {@code -XX:DumpLoadedClassList} writes it
     */
    static void makeArchive(List<String> flags, Path classes, Path archive) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(ofJdk("java"));
        command.addAll(flags);
        command.addAll(List.of(
                "-Xshare:dump",
                "-XX:SharedClassListFile=" + classes,
                "-XX:SharedArchiveFile=" + archive,
                "-cp",
                jar().toString()));
        // it warns about each class that it leaves out, such as those of an old format
        Process dump = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (dump.waitFor() != 0) {
            throw new IllegalStateException("no class-data archive was made: " + String.join(" ", command));
        }
    }

    private static String ofJdk(String program) {
        return Path.of(System.getProperty("java.home"), "bin", program).toString();
    }

    private static Path jar() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("target"))) {
            return files.filter(file -> file.getFileName().toString().endsWith("-cli.jar"))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("no executable jar: build it with mvn verify"));
        }
    }

    /** Returns the process ID. */
    public long pid() {
        return process.pid();
    }

    /** Returns whether the process is running. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Returns the size of all objects that a full collection leaves, in bytes. */
    public long heapAfterCollection() throws IOException, InterruptedException {
        String histogram = jcmd("GC.class_histogram");
        Matcher total = TOTAL.matcher(histogram);
        if (!total.find()) {
            throw new IllegalStateException("no histogram of the heap: " + histogram);
        }
        return Long.parseLong(total.group(1));
    }

    private String jcmd(String command) throws IOException, InterruptedException {
        Process jcmd = new ProcessBuilder(ofJdk("jcmd"), "" + pid(), command)
                .redirectErrorStream(true)
                .start();
        String answer = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        jcmd.waitFor();
        return answer;
    }

    /** Returns the processor time that a process has used, in seconds. */
    public static double cpuSeconds(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc", "" + pid, "stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / TICKS_PER_SECOND;
    }

    /** Returns the resident memory in bytes. */
    public long resident() throws IOException {
        return Long.parseLong(status("VmRSS").split(" ")[0]) * 1024;
    }

    /** Returns the number of threads. */
    public int threads() throws IOException {
        return Integer.parseInt(status("Threads"));
    }

    private String status(String field) throws IOException {
        return Files.readAllLines(Path.of("/proc", "" + pid(), "status")).stream()
                .filter(line -> line.startsWith(field + ":"))
                .map(line -> line.substring(field.length() + 1).strip())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no " + field + " in the status of process " + pid()));
    }

    /** Ends the process and waits for its end. */
    public void stop() {
        process.destroy();
        process.onExit().join();
    }
}
