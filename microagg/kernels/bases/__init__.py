"""Whole algorithms that several others start from or refine; those of one algorithm file are in that file.

- ``mdav``: MDAV, from which IMHM and PCL start, and MDAV-1, by which MDAV-2 and DBA-2 split groups.
- ``mdav_plus``: MDAV+, which is V-MDAV at γ = 0.
- ``mdav_argus``: MDAV in the order of µ-ARGUS, from which MDAV-MHM starts.
- ``md``: MD, from which MD-MHM starts.
- ``cbfs``: CBFS, from which CBFS-MHM starts.
- ``tfrp``: TFRP-1, by which TFRP-2 and GSMS-T2 split groups.
"""
