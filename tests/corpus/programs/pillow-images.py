# Pillow: drawing, filtering, saving.
# tree: scientific
import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageOps
image = Image.new("RGB", (60, 40), "white")
draw = ImageDraw.Draw(image)
draw.rectangle((5, 5, 30, 30), fill="red", outline="black")
draw.ellipse((30, 10, 50, 30), fill=(0, 0, 255))
draw.text((2, 2), "hi", fill="black")
image.save("i.png")
image.convert("L").resize((30, 20)).save("i.jpg", quality=90)
again = Image.open("i.png")
print(again.size, again.mode, again.format, again.getpixel((10, 20)), np.asarray(again).shape, Image.open("i.jpg").mode, image.rotate(90, expand=True).size, image.crop((0, 0, 10, 10)).size)
print(image.filter(ImageFilter.BLUR).size, ImageOps.grayscale(image).mode, ImageEnhance.Contrast(image).enhance(2).getpixel((0, 39)), Image.fromarray(np.zeros((3, 4), "u1")).size, image.histogram()[0] > 0, image.thumbnail((20, 20)), image.size)
