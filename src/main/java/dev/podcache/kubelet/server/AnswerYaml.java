package dev.podcache.kubelet.server;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.representer.StandardRepresenter;

/** Writes the YAML of answers: fields sorted, texts quoted. Pure functions. */
final class AnswerYaml {

    private static final DumpSettings SETTINGS =
            DumpSettings.builder().setDefaultFlowStyle(FlowStyle.BLOCK).build();

    private AnswerYaml() {}

    /** Quotes every text: readers of YAML 1.1 take {@code on} for a boolean and {@code 1:30} for a number. */
    private static final class QuotedTexts extends StandardRepresenter {

        QuotedTexts() {
            super(SETTINGS);
        }

        @Override
        protected NodeTuple representMappingEntry(Map.Entry<?, ?> entry) {
            Node name = super.representScalar(Tag.STR, entry.getKey().toString(), ScalarStyle.PLAIN);
            return new NodeTuple(name, representData(entry.getValue()));
        }

        @Override
        protected Node representScalar(Tag tag, String value, ScalarStyle style) {
            return super.representScalar(tag, value, tag.equals(Tag.STR) ? ScalarStyle.DOUBLE_QUOTED : style);
        }
    }

    static byte[] bytes(Map<String, ?> fields) {
        return new Dump(SETTINGS, new QuotedTexts())
                .dumpToString(new TreeMap<>(fields))
                .getBytes(StandardCharsets.UTF_8);
    }
}
