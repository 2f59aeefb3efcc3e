package dev.podcache.kubelet.staticpods;

import java.math.BigInteger;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.ConstructNode;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.schema.CoreSchema;
import org.snakeyaml.engine.v2.schema.Schema;

/** Reads YAML, of which JSON is a part, as a kubelet does. Pure functions. */
final class ManifestYaml {

    private static final LoadSettings SETTINGS = settings(new CoreSchema());

    private ManifestYaml() {}

    private static LoadSettings settings(Schema schema) {
        ConstructNode integer =
                Objects.requireNonNull(schema.getSchemaTagConstructors().get(Tag.INT));
        return LoadSettings.builder()
                .setSchema(schema)
                .setTagConstructors(Map.of(Tag.INT, node -> integer(node, integer)))
                .setCodePointLimit(StaticPodFolder.LARGEST_FILE)
                .build();
    }

    /** Reads a number with a leading 0 as octal, as YAML 1.1 does, because manifests write file modes like {@code 0644}. */
    private static @Nullable Object integer(Node node, ConstructNode otherwise) {
        String digits = ((ScalarNode) node).getValue();
        return digits.matches("0[0-7]+") ? new BigInteger(digits, 8) : otherwise.construct(node);
    }

    /**
     * Returns the only document of {@code text}: maps, lists, strings, numbers and booleans.
     *
     * @throws IllegalArgumentException if there is none, or another, or it is not YAML; the message quotes nothing
     */
    static Object document(String text) {
        @Nullable Object found = null;
        try {
            for (Object document : new Load(SETTINGS).loadAllFromString(text)) {
                if (found != null && document != null) {
                    throw new IllegalArgumentException("it has more than one document: write a file for each pod");
                }
                found = found == null ? document : found;
            }
        } catch (MarkedYamlEngineException e) {
            int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
            throw new IllegalArgumentException("it is neither YAML nor JSON, see line " + line);
        } catch (YamlEngineException e) {
            throw new IllegalArgumentException("it is neither YAML nor JSON");
        }
        if (found == null) {
            throw new IllegalArgumentException("it is empty");
        }
        return found;
    }
}
