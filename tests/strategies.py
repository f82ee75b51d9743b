"""What hypothesis draws for the decision geometry."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

values = st.floats(-10, 10, allow_nan=False, allow_subnormal=False)
libraries = st.integers(2, 6).flatmap(lambda n: hnp.arrays(np.float64, (n, 9), elements=values))
targets = hnp.arrays(np.float64, 9, elements=values)
weights = hnp.arrays(np.float64, 9, elements=st.floats(0.125, 5))
