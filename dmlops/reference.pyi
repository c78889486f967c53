# The signatures are those of the package.
from dmlops import depth_to_space as depth_to_space
from dmlops import reverse_subsequences as reverse_subsequences
from dmlops import slice as slice
from dmlops import space_to_depth as space_to_depth
