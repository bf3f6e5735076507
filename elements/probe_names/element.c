/* A sum whose digits in base 2 show which input an importer has set.
 *
 * Every weight is a power of 2, so inputs of 0 and 1 give a whole number.   Source: FMI 2.0, section 2.2.9. */
#define LONG a_name_of_two_hundred_characters_001_002_003_004_005_006_007_008_009_010_011_012\
_013_014_015_016_017_018_019_020_021_022_023_024_025_026_027_028_029_030_031_032_033_034_035_036_037_038_039_040_041_04z

static void outputs(Element *e)
{
    e->y = e->u + 2.0 * e->U + 4.0 * e->class + 8.0 * e->end + 16.0 * e->None + 32.0 * e->item_1
           + 64.0 * e->item[0] + 128.0 * e->item[1] + 256.0 * e->a.u + 512.0 * e->LONG
           + 1024.0 * e->quoted_blank + 2048.0 * e->quoted_structure + 4096.0 * e->quoted_signs;
}
