package dev.podcache.documentation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.Bootstrap;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.IllegalConnectorArgumentsException;
import com.sun.jdi.connect.LaunchingConnector;
import com.sun.jdi.connect.VMStartException;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.MethodEntryEvent;
import com.sun.jdi.event.VMDisconnectEvent;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.EventRequestManager;
import com.sun.jdi.request.MethodEntryRequest;
import dev.podcache.testing.Slow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The files that the root {@code package-info} lists for each way are those that a trace of its calls passes. */
@Slow
class WaysTest {

    private static final String ARRIVED = "arrived";

    private static final int MOST_TRACES = 10;

    /** A way, and the method of {@link WaysProgram} that begins it. */
    private enum Way {
        POD_TO_SOCKET("pod to socket", "fromPodToSocket"),
        EVENT_TO_ENTRY("event to entry", "fromEventToEntry"),
        HIT_UNDER_WATCH("hit under WATCH", "hitUnderWatch"),
        HIT_UNDER_CACHE("hit under CACHE", "hitUnderCache"),
        MISS_UNDER_CACHE("miss under CACHE", "missUnderCache"),
        PATCH_OF_A_STATUS("PATCH of a status", "patchOfAStatus");

        final String title;
        final String marker;

        Way(String title, String marker) {
            this.title = title;
            this.marker = marker;
        }
    }

    /** Packages that are not traced: the server, and what every way passes and nobody has to read to follow it. */
    private static final Set<String> LEFT_OUT =
            Set.of("embedded", "object", "time", "metrics", "documentation", "testing");

    private static final Map<Way, Set<String>> PASSED = new EnumMap<>(Way.class);

    /** A method that was entered, as {@code package/File} and {@code Class.method}. */
    private record MethodCall(String file, String method) {

        /** What is made on the way is passed only if it does something there. */
        boolean isConstruction() {
            return method.endsWith(".<init>") || method.endsWith(".<clinit>");
        }

        boolean isIn(String simpleFile) {
            return file.endsWith("/" + simpleFile);
        }
    }

    /**
     * Traces until each way was as it is listed once. Something periodic may fall into a way, such as the credentials'
     * being read again, and of two threads the other may go first: then the next trace is another.
     */
    @BeforeAll
    static void trace() throws IOException, IllegalConnectorArgumentsException, VMStartException, InterruptedException {
        Set<Way> others = EnumSet.allOf(Way.class);
        for (int i = 0; i < MOST_TRACES && !others.isEmpty(); i++) {
            List<MethodCall> calls = traced();
            for (Way way : Set.copyOf(others)) {
                Set<String> files = passed(way, calls);
                PASSED.put(way, files);
                if (files.equals(listed(way))) {
                    others.remove(way);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void way_passesTheFilesThatAreListed(Way way) throws IOException {
        assertThat(listed(way)).containsExactlyInAnyOrderElementsOf(Objects.requireNonNull(PASSED.get(way)));
    }

    private static Set<String> passed(Way marked, List<MethodCall> calls) {
        int from = first(calls, 0, "WaysProgram." + marked.marker);
        int to = first(calls, from, "WaysProgram.arrived");
        List<MethodCall> way = calls.subList(from + 1, to);
        int begin = 0;
        int end = way.size();
        if (marked == Way.EVENT_TO_ENTRY) {
            begin = indexOf(way, call -> call.isIn("Http2Streams"));
            end = begin + indexOf(way.subList(begin, end), call -> call.method.equals("Entry.setAnswerLocked")) + 1;
        } else if (marked == Way.POD_TO_SOCKET || marked == Way.PATCH_OF_A_STATUS) {
            end = indexOf(way, call -> call.method.equals("NettyWire.send")) + 1;
        }
        Set<String> files = new LinkedHashSet<>();
        for (MethodCall call : way.subList(begin, end)) {
            if (!call.isConstruction() && !isValue(call.file)) {
                files.add(call.file);
            }
        }
        return files;
    }

    /** Whether a file holds a record, an enum or an interface: what travels, not where it passes. */
    private static boolean isValue(String file) {
        try {
            Class<?> type = Class.forName("dev.podcache." + file.replace('/', '.'));
            return type.isRecord() || type.isEnum() || type.isInterface();
        } catch (ClassNotFoundException e) {
            throw new AssertionError(file, e);
        }
    }

    private static int first(List<MethodCall> calls, int from, String method) {
        return from + indexOf(calls.subList(from, calls.size()), call -> call.method.equals(method));
    }

    private static int indexOf(List<MethodCall> among, Predicate<MethodCall> wanted) {
        for (int i = 0; i < among.size(); i++) {
            if (wanted.test(among.get(i))) {
                return i;
            }
        }
        throw new AssertionError("not called");
    }

    /** Returns the files in the list item with that title. */
    private static Set<String> listed(Way way) throws IOException {
        String text = Files.readString(Path.of("src/main/java/dev/podcache/package-info.java"))
                .replaceAll("\\n \\* ?", " ");
        Matcher item = Pattern.compile("<dt>" + way.title + "[^<]*<dd>([^<]*)").matcher(text);
        assertThat(item.find()).as(way.title + " is listed").isTrue();
        return Set.of(item.group(1).trim().split("[,\\s]+"));
    }

    private static List<MethodCall> traced()
            throws IOException, IllegalConnectorArgumentsException, VMStartException, InterruptedException {
        LaunchingConnector connector = Bootstrap.virtualMachineManager().defaultConnector();
        Map<String, Connector.Argument> arguments = connector.defaultArguments();
        Objects.requireNonNull(arguments.get("main")).setValue(WaysProgram.class.getName());
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Objects.requireNonNull(arguments.get("options"))
                .setValue("-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp \"" + classPath + "\"");
        VirtualMachine machine = connector.launch(arguments);
        EventRequestManager requests = machine.eventRequestManager();
        ClassPrepareRequest loaded = requests.createClassPrepareRequest();
        loaded.addClassFilter(WaysProgram.class.getName());
        loaded.enable();
        MethodEntryRequest entries = requests.createMethodEntryRequest();
        entries.addClassFilter("dev.podcache.*");
        LEFT_OUT.forEach(name -> entries.addClassExclusionFilter("dev.podcache." + name + ".*"));
        entries.setSuspendPolicy(EventRequest.SUSPEND_NONE);
        List<MethodCall> traced = new ArrayList<>();
        while (true) {
            EventSet events = machine.eventQueue().remove();
            for (Event event : events) {
                if (event instanceof ClassPrepareEvent program) {
                    program.referenceType().methods().stream()
                            .filter(WaysTest::isMarker)
                            .forEach(method -> requests.createBreakpointRequest(method.location())
                                    .enable());
                } else if (event instanceof BreakpointEvent marker) {
                    traced.add(call(marker.location()));
                    // a program whose calls are traced is slow
                    entries.setEnabled(!marker.location().method().name().equals(ARRIVED));
                } else if (event instanceof MethodEntryEvent entry && hasSource(entry.location())) {
                    traced.add(call(entry.location()));
                } else if (event instanceof VMDisconnectEvent) {
                    Process program = machine.process();
                    String complaints = new String(program.getErrorStream().readAllBytes(), UTF_8);
                    assertThat(program.waitFor()).as(complaints).isZero();
                    return traced;
                }
            }
            events.resume();
        }
    }

    private static boolean isMarker(Method method) {
        return method.name().equals(ARRIVED)
                || Arrays.stream(Way.values()).anyMatch(way -> way.marker.equals(method.name()));
    }

    /** The classes of lambdas are made at run time, and in newer JDKs those that compare records. */
    private static boolean hasSource(Location location) {
        return !location.declaringType().name().contains("$$");
    }

    private static MethodCall call(Location location) {
        try {
            String path = location.sourcePath();
            String file = path.substring("dev/podcache/".length(), path.length() - ".java".length());
            String simple = file.substring(file.lastIndexOf('/') + 1);
            return new MethodCall(file, simple + "." + location.method().name());
        } catch (AbsentInformationException e) {
            throw new AssertionError(location + " has no source", e);
        }
    }
}
