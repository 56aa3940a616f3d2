"""Makes vectors.json: what a trained model makes of the texts of the set. Reads them as a JSON array on standard input.

    pip install wordllama==0.4.0.post1
    node services/itsm/dist/relevance/model-texts.js | python services/itsm/relevance/make-vectors.py > services/itsm/relevance/vectors.json

Weights and tokenizer are those inside the package (MIT), so nothing else is downloaded.
"""

import base64
import hashlib
import json
import pathlib
import sys

import numpy
import wordllama
from safetensors import safe_open
from tokenizers import Tokenizer

package = pathlib.Path(wordllama.__file__).parent
tokenizer = Tokenizer.from_file(str(package / "tokenizers/l2_supercat_tokenizer_config.json"))
tokenizer.no_truncation()
with safe_open(package / "weights/l2_supercat_256.safetensors", "numpy") as file:
    weights = file.get_tensor("embedding.weight").astype(numpy.float32)


def vector(text: str) -> bytes:
    """The mean of the tokens' vectors, scaled to signed bytes: cosines stay the same to about a hundredth."""
    mean = weights[tokenizer.encode(text, add_special_tokens=False).ids].mean(axis=0)
    return numpy.round(mean / numpy.abs(mean).max() * 127).astype(numpy.int8).tobytes()


texts = json.load(sys.stdin)
vectors = {
    hashlib.sha256(text.encode()).hexdigest(): base64.b64encode(vector(text)).decode() for text in texts
}
json.dump(
    {"model": "wordllama-l2-supercat-256", "dims": weights.shape[1], "vectors": dict(sorted(vectors.items()))},
    sys.stdout,
    indent=1,
)
sys.stdout.write("\n")
