"""The classes, each a row: which rule makes its plan, with which parameters. Defaults and keys are in classes.json."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from dmlops.processors.configuration import Configuration
from dmlops.processors.families import detection as d
from dmlops.processors.families import others as o
from dmlops.processors.families import patches as p
from dmlops.processors.families import samples, squares
from dmlops.processors.families import standard as s
from dmlops.processors.families import tiles as t
from dmlops.processors.families import videos as v
from dmlops.processors.plans import Array, Plan

__all__ = ["REFUSED", "ROWS"]

Rule: TypeAlias = Callable[..., Plan]


class Row(NamedTuple):
    """How a class makes its plan.

    `adapt` reads old names of keys; `content` cuts a picture by its pixels, before its size counts. `form` says what a call
    takes: "pictures", of which each is a sample; "samples", each a picture, or a list of these; "nested", samples as lists of
    pictures, of which a flat list is one; "videos", which have frames.
    """

    rule: Rule
    adapt: Callable[[Configuration], None] | None = None
    form: str = "pictures"
    content: Callable[[Configuration, Array], Array] | None = None


ROWS: dict[str, Row] = {}

# What is no resize of bytes, movement and table.
_FLOATS = "it resizes floats, whose last bits depend on the instruction set"
_GREY = "grey is a weighted sum of three channels of floats"
REFUSED: dict[str, str] = {
    **dict.fromkeys(
        [
            f"{name}Processor"
            for name in "DepthProImage DINOv3ViTImage NemotronH_Omni_Reasoning_V3Image NemotronH_Omni_Reasoning_V3Video "
            "Owlv2Image Phi4MultimodalImage PPDocLayoutV4Image PPOCRV5ServerDetImage PPOCRV5ServerRecImage RfDetrImage "
            "UVDocImage ZoeDepthImage "
            "Molmo2Image Molmo2Video".split()
        ],
        _FLOATS,
    ),
    **dict.fromkeys([f"{name}ImageProcessor" for name in ("EfficientLoFTR", "LightGlue", "SuperGlue")], _GREY),
    **dict.fromkeys(
        [f"{name}ImageProcessor" for name in ("Kosmos2_5", "Pix2Struct")],
        "it normalises by mean and deviation of each picture, and resizes floats",
    ),
    "ImageGPTImageProcessor": "its results are indices of the nearest of 512 colours",
    "VitPoseImageProcessor": "it warps the picture by boxes",
    "VitMatteImageProcessor": "it needs a trimap beside each picture",
    "Ernie4_5_VLMoeVideoProcessor": "it draws time stamps with a font",
}


def rows(
    names: str,
    rule: Rule,
    adapt: Callable[[Configuration], None] | None = None,
    form: str = "pictures",
    content: Callable[[Configuration, Array], Array] | None = None,
    **more: Any,
) -> None:
    for name in names.split():
        ROWS[f"{name}Processor"] = Row(functools.partial(rule, **more) if more else rule, adapt, form, content)


rows(
    "BitImage BlipImage ChameleonImage ChineseCLIPImage CLIPImage DeiTImage MobileNetV1Image OwlViTImage PI0Image "
    "PPChart2TableImage PvtImage SiglipImage Tipsv2Image Tipsv2DptImage ViTImage",
    s.standard,
    pads=True,
)
rows("IdeficsImage", s.standard, o.adapt_idefics, pads=True)
rows("LevitImage", s.standard, pads=True, size=s.levit)
rows("PoolFormerImage", s.standard, pads=True, size=s.pool_former)
rows("BeitImage MobileNetV2Image", s.standard)
rows("TextNetImage", s.standard, size=s.text_net)
rows("GLPNImage", s.standard, size=s.glpn, crops=False)
rows("ConvNextImage", s.crop_as_size)
rows("PerceiverImage", s.perceiver)
rows("EfficientNetImage", s.standard, values=s.efficient_net)
rows("VideoMAEImage", s.frames_of_videos, form="nested")
rows("BridgeTowerImage ViltImage", s.masked)
rows("DPTImage CHMv2Image", s.centre_padded)
rows("SamImage", s.sam_masks)
rows("Swin2SRImage", s.swin2sr)
rows("DonutImage", s.donut, s.adapt_donut)
rows("PixtralImage", s.pixtral_padded)

rows("DetrImage ConditionalDetrImage DeformableDetrImage GroundingDinoImage", d.detr, d.adapt_detr)
rows("YolosImage", d.detr, d.adapt_detr, size=d.yolos_size)
rows("RTDetrImage", d.detr)
rows("MaskFormerImage Mask2FormerImage", d.mask_former, d.adapt_mask_former)
rows("OneFormerImage", d.mask_former, size=s.by_keys, pads_to_size=False)
rows("EomtImage", d.eomt)

rows("Qwen2VLImage CohereCompassImage", p.qwen, p.adapt_pixels)
rows("VideoLlama3Image", p.qwen, p.adapt_pixels, merges=True)
rows("MiniMaxM3VLImage", p.qwen, p.adapt_mini_max)
rows("GlmImageImage", p.qwen, p.adapt_pixels, size=p.half)
rows("HunYuanVLImage HYV4VLImage", p.qwen, p.adapt_pixels, layout=p.by_rows_of_blocks, filter="bicubic")
rows("PaddleOCRVLImage", p.qwen, p.adapt_pixels, size=p.area_of_least_sides, layout=p.plain)
rows("Glm4vImage Glm46VImage GlmgaImage", p.qwen, size=p.volume)
rows("Cosmos3EdgeImage", p.qwen, size=p.volume, layout=p.merged_last)
rows("Ernie4_5_VLMoeImage", p.qwen)
rows("MuseGlimmerImage", p.qwen, size=p.muse, layout=p.plain_copies_first)
rows("Glm5NextImage", p.glm5)
rows("Kimi_K25Image", p.kimi)
rows("NeoMMEImage", p.neo)
rows("Siglip2Image", p.siglip2)
rows("Gemma4Image", p.gemma4)

rows("LlavaImage", squares.llava)
rows("LlavaNextImage", t.llava_next)
rows("LlavaOnevisionImage", t.llava_next, form="samples", one_alone=True)
rows("GotOcr2Image", t.tiles)
rows("Cohere2VisionImage", t.tiles, grid=t.least_scale)
rows("Ovis2Image", t.ovis2)
rows("DeepseekOcr2Image", t.deepseek_ocr)
rows("AriaImage", t.aria)
rows("Llama4Image", t.llama4)
rows("MllamaImage", samples.mllama, form="nested")
rows("Idefics2Image", samples.idefics2, form="nested")
rows("Idefics3Image SmolVLMImage", samples.idefics3, form="nested")
rows("UltraVBertImage", samples.idefics3, form="nested", capped=True)
rows("GraniteDoclingImage", samples.granite_docling, form="nested")
rows("JanusImage DeepseekVLImage", squares.janus)
rows("DeepseekVLHybridImage", squares.hybrid)
rows("Gemma3Image", t.gemma3)
rows("PerceptionLMImage", t.perception)
rows("Step3p7Image", t.step3)
rows("UnlimitedOcrImage", t.unlimited_ocr)

rows("Gemma4UnifiedImage", p.gemma4_unified)
rows("Lfm2VlImage", p.lfm2)
rows("InklingImage", p.inkling)
rows("Inkling2Image", p.inkling, first=False)
rows("MiniCPMV4_6Image", p.mini_cpm)
rows("MiniCPMOcrImage", p.mini_cpm, always=True)

rows("LayoutLMv2Image", o.layout, bgr=True, scales=False)
rows("LayoutLMv3Image", o.layout)
rows("MobileViTImage", o.mobile_vit)
rows("FlavaImage", o.flava)
rows("Sam2Image Sam3Image", o.sam2)
rows("SegGptImage SegformerImage", s.standard, crops=False)
rows("Sapiens2Image", o.sapiens)
rows("SuperPointImage", o.super_point)
rows("PromptDepthAnythingImage", o.depth_anything)
rows("TvpImage", o.tvp, form="nested")
rows("FuyuImage", o.fuyu, form="samples")
rows("PPLCNetImage", o.lc_net)
rows("PPDocLayoutV2Image PPDocLayoutV3Image", o.without_antialias)
rows("PPOCRV6SmallRecImage", o.recognition)
rows("SLANeXtImage", o.slanext)
rows("Apertus1p5Image", o.apertus)
rows("Emu3Image", o.emu3, o.adapt_older)
rows("NougatImage PPFormulaNetImage", o.nougat, content=o.without_margin)
rows("VideoLlavaImage", s.standard, o.adapt_older, name="pixel_values_images")
rows("VivitImage", s.frames_of_videos, o.adapt_older, form="nested", values=o.vivit)

rows(
    "LlavaNextVideoVideo LlavaOnevisionVideo PerceptionLMVideo VideoLlavaVideo InternVLVideo VideomtVideo",
    v.plain,
    form="videos",
)
rows("TimesformerVideo VideoMAEVideo InstructBlipVideoVideo", v.plain, form="videos", name="pixel_values")
rows("VivitVideo", v.plain, form="videos", name="pixel_values", values=v.vivit_table)
rows("PeVideoVideo", v.plain, form="videos", pads=True)
rows("VJEPA2Video", v.plain, v.adapt_vjepa, form="videos")
rows("Sam2VideoVideo", v.sam2, form="videos")
rows("Qwen2VLVideo", v.patched, p.adapt_pixels, form="videos", size=v.area)
rows("VideoLlama3Video", v.patched, p.adapt_pixels, form="videos", size=v.shared_area, compresses=True)
rows("Qwen3VLVideo CohereCompassVideo Glm4vVideo Glm46VVideo GlmgaVideo", v.patched, form="videos", size=v.volume)
rows("Cosmos3EdgeVideo", v.patched, form="videos", size=v.volume, layout=p.merged_last)
rows("HYV4VLVideo", v.patched, form="videos", size=v.rows_in_budget, layout=p.by_rows_of_blocks)
rows("MuseGlimmerVideo", v.patched, form="videos", size=v.muse, layout=p.plain_copies_first)
rows("Glm5NextVideo", v.glm5, form="videos")
rows("MiniMaxM3VLVideo", v.mini_max, form="videos")
rows("Kimi_K25Video", v.kimi, form="videos")
rows("Gemma4Video EmbeddingGemma2Video", v.gemma4, form="videos")
rows("Gemma4UnifiedVideo", v.gemma4, form="videos", unified=True)
rows("SmolVLMVideo", v.smol, form="videos")
rows("MiniCPMV4_6Video MiniCPMOcrVideo", v.mini_cpm, form="videos")
