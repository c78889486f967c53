"""What a session has beside `run`, as onnxruntime's has it, and what it says of files that are no models."""

import copy
import multiprocessing
import pickle
import textwrap

import dmlops.onnx
import numpy as np
import onnx
import onnxruntime
import pytest
from dmlops.onnx.parts import FOLDER
from onnx import parser
from support import run_python
from test_session import FOCUS, MOVES, NOTHING, noise

ATTRIBUTES = ["producer_name", "graph_name", "domain", "description", "graph_description", "version", "custom_metadata_map"]


def both(text, change=lambda model: None, **options):
    """A session of ours and one of onnxruntime."""
    model = parser.parse_model(text)
    change(model)
    source = model.SerializeToString()
    return dmlops.onnx.Session(source, device="host", **options), onnxruntime.InferenceSession(source, **options)


@pytest.mark.parametrize("text", [FOCUS, MOVES, NOTHING])
def test_metadata(text):
    def describe(model):
        model.producer_name, model.domain, model.doc_string, model.model_version = "trainer", "com.example", "A model.", 3
        model.graph.doc_string = "A graph."
        model.metadata_props.add(key="names", value="{0: 'cat'}")

    ours, theirs = (session.get_modelmeta() for session in both(text, describe))
    assert [getattr(ours, name) for name in ATTRIBUTES] == [getattr(theirs, name) for name in ATTRIBUTES]
    assert sorted(name for name in dir(theirs) if name[0] != "_") == sorted(ATTRIBUTES)


def test_providers_and_options():
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    given = {"sess_options": options, "providers": ["CPUExecutionProvider"], "provider_options": [{}]}
    ours, theirs = both(FOCUS, **given, disabled_optimizers=["ConstantFolding"])
    assert ours.get_providers() == theirs.get_providers() == ["CPUExecutionProvider"]
    assert ours.get_provider_options() == theirs.get_provider_options()
    alone, _ = both(MOVES, **given)
    assert alone.get_providers() == [] and alone.get_provider_options() == {}
    for session in (ours, alone):
        assert session.get_session_options().log_severity_level == 3
    assert dmlops.onnx.Session(path_or_bytes=parser.parse_model(MOVES).SerializeToString()).get_session_options()


def test_overridable_initializers():
    text = '<ir_version: 10, opset_import: ["": 21]> g (float[N, 2] x, float[1] w) => (float[2, N] y) <float[1] w = {1}>'
    ours, theirs = both(f"{text} {{ t = Transpose (x) y = Add (t, w) }}")
    names = [[(a.name, a.type, a.shape) for a in session.get_overridable_initializers()] for session in (ours, theirs)]
    assert names[0] == names[1] == [("w", "tensor(float)", [1])]


def test_options_serve_models_of_several_folders(tmp_path):
    """What is set for external data of one does not stay."""
    options, image = onnxruntime.SessionOptions(), noise(1, 3, 8, 8)
    for name in ("first", "second"):
        model = parser.parse_model(FOCUS.replace("y = Sigmoid (patches)", "y = Add (patches, weight)"))
        model.graph.initializer.append(onnx.numpy_helper.from_array(noise(12, 4, 4), "weight"))
        path = tmp_path / name / "model.onnx"
        path.parent.mkdir()
        onnx.save_model(model, path, save_as_external_data=True, location="weights", size_threshold=0)
        expected = onnxruntime.InferenceSession(path).run(None, {"image": image})
        for session in (dmlops.onnx.Session(path, options, device="host"), onnxruntime.InferenceSession(path, options)):
            assert np.array_equal(session.run(None, {"image": image}), expected)


def test_the_folder_that_the_caller_sets(tmp_path):
    """It serves both parts of a model in memory, and stays."""
    text = FOCUS.replace("y = Sigmoid (patches)", "all = Concat <axis = 1> (patches, weight) y = Add (all, more)")
    model = parser.parse_model(text.replace("float[N, 12, A, B] y", "float[N, 13, A, B] y"))
    for name, channels in (("weight", 1), ("more", 13)):
        model.graph.initializer.append(onnx.numpy_helper.from_array(noise(1, channels, 4, 4), name))
    onnx.save_model(model, tmp_path / "model.onnx", save_as_external_data=True, location="weights", size_threshold=0)
    source = onnx.load(tmp_path / "model.onnx", load_external_data=False).SerializeToString()
    options, image = onnxruntime.SessionOptions(), noise(1, 3, 8, 8)
    options.add_session_config_entry(FOLDER, str(tmp_path))
    session = dmlops.onnx.Session(source, options, device="host")
    assert session.moved[-1] == "Concat" and options.get_session_config_entry(FOLDER) == str(tmp_path)
    expected = onnxruntime.InferenceSession(source, options).run(None, {"image": image})
    assert np.array_equal(session.run(None, {"image": image}), expected)


def test_arguments_of_the_wrong_type():
    session, _ = both(FOCUS)
    image = noise(1, 3, 4, 4)
    for feed in ([image], image):
        with pytest.raises(TypeError, match="input_feed must be a dict of arrays by the names of inputs, not (list|ndarray)"):
            session.run(None, feed)
    with pytest.raises(TypeError, match="output_names must be a sequence of names, not the name 'y'"):
        session.run("y", {"image": image})


def test_files_that_are_no_models(tmp_path):
    path = tmp_path / "photo.onnx"
    path.write_bytes(b"\x89PNG no model")
    with pytest.raises(ValueError, match=r"photo\.onnx is no ONNX model"):
        dmlops.onnx.Session(path)
    with pytest.raises(ValueError, match="path_or_bytes is no ONNX model"):
        dmlops.onnx.Session(path.read_bytes())
    for source in (parser.parse_model(FOCUS), None):
        with pytest.raises(TypeError, match=r"path_or_bytes must be a path, or bytes.*, not (ModelProto|NoneType)"):
            dmlops.onnx.Session(source)
    for function in (dmlops.onnx.split, dmlops.onnx.backend.prepare, dmlops.onnx.backend.is_compatible):
        with pytest.raises(TypeError, match=r"model must be an onnx.ModelProto, not PosixPath: onnx.load reads one"):
            function(path)
    with pytest.raises(FileNotFoundError, match="there is none"):
        dmlops.onnx.Session(tmp_path / "there is none")


def test_a_model_in_onnxruntime_s_own_format(tmp_path):
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "model.ort")
    options.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(parser.parse_model(FOCUS).SerializeToString(), options)
    session = dmlops.onnx.Session(tmp_path / "model.ort")
    expected = dmlops.onnx.Session(parser.parse_model(FOCUS).SerializeToString())
    image = noise(1, 3, 8, 8)
    assert not session.moved and np.array_equal(*(one.run(None, {"image": image}) for one in (session, expected)))
    assert session.get_inputs()[0].name == "image" and session.get_modelmeta().custom_metadata_map == {}


CONSTANT = """
    <ir_version: 10, opset_import: ["": 21]>
    constant (float[N, 2] x) => (float[M, 2] y, float[M, 2] z) <float[1, 2] c = {1, 2}> {
        y = Concat <axis = 0> (x, c) z = Abs (y)
    }"""


@pytest.mark.needs_fork
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_session_made_before_a_fork(device):
    """Constants that are moved are on the device: the child uploads them again."""
    source = parser.parse_model(CONSTANT)
    session = dmlops.onnx.Session(source.SerializeToString(), device=device)
    prepared = dmlops.onnx.backend.prepare(dmlops.onnx.split(source)[0], device)
    x = noise(3, 2)
    expected = session.run(None, {"x": x}), prepared.run([x])

    def child(results):
        results.put((session.run(None, {"x": x}), prepared.run([x])))

    context = multiprocessing.get_context("fork")
    results = context.Queue()
    process = context.Process(target=child, args=(results,))
    process.start()
    for ours, theirs in zip(results.get(timeout=500), expected, strict=True):
        assert np.array_equal(ours, theirs)
    process.join()
    assert process.exitcode == 0
    assert np.array_equal(session.run(None, {"x": x}), expected[0])


def test_a_session_is_not_pickled():
    source = parser.parse_model(CONSTANT)
    session = dmlops.onnx.Session(source.SerializeToString(), device="host")
    for function in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="a dmlops.onnx.Session cannot be pickled: pass on the model's path or bytes"):
            function(session)
    prepared = dmlops.onnx.backend.prepare(dmlops.onnx.split(source)[0], "host")
    with pytest.raises(TypeError, match="a prepared model cannot be pickled: pass on the model, and prepare it again"):
        pickle.dumps(prepared)


@pytest.mark.parametrize("external", [False, True])
def test_nothing_is_written_to_stderr(external, tmp_path):
    model = parser.parse_model(FOCUS.replace("y = Sigmoid (patches)", "y = Add (patches, weight)"))
    model.graph.initializer.append(onnx.numpy_helper.from_array(noise(12, 4, 4), "weight"))
    onnx.save_model(model, tmp_path / "model.onnx", save_as_external_data=external, location="weights", size_threshold=0)
    code = f"""
        import dmlops.onnx, numpy as np, onnxruntime
        for options in (None, {None if external else "onnxruntime.SessionOptions()"}):
            for _ in range(2):
                session = dmlops.onnx.Session({str(tmp_path / "model.onnx")!r}, options, device="host")
                assert session.moved and session.rest
                session.run(None, {{"image": np.zeros((1, 3, 8, 8), "f4")}})
        """
    assert run_python(textwrap.dedent(code)).stderr == ""
