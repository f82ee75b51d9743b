"""The studies, by name: each file has `run(context)`, which returns a table and a picture, and the `claims` it supports."""

from physrank.lab.studies import (
    additional,
    certificates,
    composition,
    controls,
    diffusion_reaction,
    direct,
    doubt,
    flow_1d,
    flow_2d,
    panels,
    primary,
    race,
    sine_gordon,
    variational,
)

STUDIES = {
    "primary": primary,
    "additional": additional,
    "composition": composition,
    "controls": controls,
    "variational": variational,
    "panels": panels,
    "direct": direct,
    "certificates": certificates,
    "doubt": doubt,
    "race": race,
    sine_gordon.NAME: sine_gordon,
    diffusion_reaction.NAME: diffusion_reaction,
    flow_1d.NAME: flow_1d,
    flow_2d.NAME: flow_2d,
}
